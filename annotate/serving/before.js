// Lets the terminal's own styles in under a policy without 'unsafe-inline'. Runs before textual.js.
"use strict";
{
  const nonce = document.body.dataset.nonce;
  const create = document.createElement.bind(document);
  document.createElement = (name, options) => {
    const element = create(name, options);
    if (String(name).toLowerCase() === "style") {
      element.nonce = nonce;
    }
    return element;
  };
  const setAttribute = Element.prototype.setAttribute;
  Element.prototype.setAttribute = function (name, value) {
    if (name === "style") {
      this.style.cssText = value;
    } else {
      setAttribute.call(this, name, value);
    }
  };
}
