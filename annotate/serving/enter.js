// Exchanges the link for a cookie. The secret stands behind the # of the address, so that neither a server nor a proxy
// on the way has it in a log; it is taken out of the address and of the history at once.
"use strict";
{
  const told = document.getElementById("told");
  const retry = document.getElementById("retry");
  const link = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);

  const enter = async () => {
    retry.hidden = true;
    try {
      const answer = await fetch("enter", { method: "POST", body: new URLSearchParams({ link }), redirect: "error" });
      if (answer.ok) {
        location.replace("./");
        return;
      }
      told.textContent = (await answer.json()).message;
      retry.hidden = answer.status !== 409 && answer.status !== 429;
    } catch {
      told.textContent = "The server does not answer. It may have been stopped: ask whoever leads the study.";
      retry.hidden = false;
    }
  };

  retry.addEventListener("click", enter);
  if (link) {
    enter();
  } else {
    told.textContent = "This address is incomplete: the part behind # is missing. Open the whole link.";
  }
}
