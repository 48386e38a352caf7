// The keyboard begins at what is wrong in a form, else where the page says. (Browsers do the second
// by themselves, but not on pages that are hidden until their scripts have run.)
"use strict";

function beginning() {
  const wrong = document.querySelector("main [aria-invalid=true]:not([type=hidden])");
  const chosen = wrong?.nextElementSibling?.querySelector(".select2-selection");
  return chosen ?? wrong ?? said() ?? document.querySelector("[autofocus]");
}

// What is wrong with the whole of a form, or of a file, stands in no field.
function said() {
  const words = document.querySelector("main [role=alert]:not([hidden])");
  if (words) words.tabIndex = -1;
  return words;
}

addEventListener("load", () => {
  if (document.activeElement === document.body && !location.hash) beginning()?.focus();
});
