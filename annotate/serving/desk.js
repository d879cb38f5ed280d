// Around the terminal: fonts before the first measure, what is said at the end, and coming back by itself after a lost
// connection. Runs after textual.js, whose start it holds back.
"use strict";
{
  const body = document.body;
  const terminal = document.getElementById("terminal");
  const state = document.getElementById("state");
  const ended = document.getElementById("ended");
  const again = document.getElementById("again");
  const RETRY = 2000;

  // --- size of the text --------------------------------------------------------------------------
  const sizes = [10, 12, 14, 16, 18, 20, 24, 28, 34];
  const kept = Number(localStorage.getItem("text-size"));
  const size = sizes.includes(kept) ? kept : window.innerWidth < 600 ? 12 : 16;
  terminal.dataset.fontSize = String(size);
  const turn = (step) => {
    const next = sizes[sizes.indexOf(size) + step];
    if (next) {
      localStorage.setItem("text-size", String(next));
      location.reload();
    }
  };
  document.getElementById("smaller").addEventListener("click", () => turn(-1));
  document.getElementById("larger").addEventListener("click", () => turn(1));

  // --- this window ------------------------------------------------------------------------------------
  // A reload keeps what is stored for the window, another window has its own.
  const tab = () => {
    if (!sessionStorage.getItem("tab")) {
      const bytes = crypto.getRandomValues(new Uint8Array(16));
      sessionStorage.setItem("tab", Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""));
    }
    return sessionStorage.getItem("tab");
  };
  const theme = () => {
    if (matchMedia("(prefers-contrast: more)").matches) {
      return "high-contrast";
    }
    return matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
  };
  const take = sessionStorage.getItem("take") === "1";
  sessionStorage.removeItem("take");

  // --- the connection ---------------------------------------------------------------------------------
  const focus = () => terminal.querySelector(".xterm-helper-textarea")?.focus();
  let told = false;

  const show = (word) => {
    told = true;
    document.getElementById("ended-title").textContent = word.title;
    document.getElementById("ended-text").textContent = word.text;
    const lines = document.getElementById("ended-lines");
    lines.replaceChildren(
      ...word.lines.flatMap(([name, value]) => {
        const [term, meaning] = [document.createElement("dt"), document.createElement("dd")];
        term.textContent = name;
        meaning.textContent = value;
        return [term, meaning];
      }),
    );
    again.textContent = word.again;
    again.hidden = !word.again;
    again.onclick = () => {
      if (word.take) {
        sessionStorage.setItem("take", "1");
      }
      location.reload();
    };
    ended.hidden = false;
    document.querySelector("main").inert = true;
    (word.again ? again : ended).focus();
    state.textContent = word.title;
  };

  const comeBack = async () => {
    try {
      const answer = await fetch("alive", { cache: "no-store" });
      if (answer.ok || answer.status === 401) {
        location.reload();
        return;
      }
    } catch {
      // Not there yet.
    }
    setTimeout(comeBack, RETRY);
  };

  const lost = () => {
    show({
      title: "Connection lost",
      text: "Everything marked ✓ is saved. This page goes on by itself when the server answers again.",
      lines: [],
      again: "",
    });
    comeBack();
  };

  const Native = window.WebSocket;
  window.WebSocket = class extends Native {
    constructor(address) {
      const url = new URL(address);
      url.searchParams.set("tab", tab());
      url.searchParams.set("theme", theme());
      url.searchParams.set("screen", body.dataset.screen);
      if (take) {
        url.searchParams.set("take", "1");
      }
      super(url.href);
      this.addEventListener("open", () => {
        state.textContent = "Connected";
        focus();
      });
      this.addEventListener("message", (event) => {
        const word = typeof event.data === "string" ? JSON.parse(event.data) : [];
        if (word[0] === "ended") {
          show(word[1]);
        }
      });
      this.addEventListener("close", (event) => {
        if (event.code === 1001) {
          comeBack();
        } else if (!told) {
          lost();
        }
      });
    }

    send(data) {
      if (this.readyState === Native.OPEN) {
        super.send(data);
      }
    }
  };

  // --- start ---------------------------------------------------------------------------------------------
  // textual.js measures a character once: its font has to be there.
  const start = window.onload;
  window.onload = null;
  window.addEventListener("load", async () => {
    const font = `${size}px "Roboto Mono"`;
    await Promise.allSettled([font, `bold ${font}`, `italic ${font}`].map((each) => document.fonts.load(each)));
    start.call(window);
    focus();
  });
}
