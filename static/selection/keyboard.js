// Unfold opens its menus, its filters and the account with its way out by clicks alone. Here the
// keyboard comes to what can be clicked: Enter and Space open, the focus goes in, Escape leaves.
"use strict";

const CLICKABLE = "a[x-on\\:click]:not([href]), span[x-on\\:click], div[x-on\\:click]";
const STOPS = "a[href], button, input, select, textarea, [tabindex='0']";
const NAMES = { dock_to_right: "Menu", close: "Close", more_horiz: "Actions" };
const SHOWN = 50; // milliseconds until what was opened is there

let opener = null;
let inside = null;

function words(one) {
  const copy = one.cloneNode(true);
  for (const icon of copy.querySelectorAll(".material-symbols-outlined")) icon.remove();
  return copy.textContent.trim().replace(/\s+/g, " ");
}

function makeReachable() {
  for (const one of document.querySelectorAll(CLICKABLE)) {
    const text = one.textContent.trim();
    if (!text) continue;
    one.tabIndex = 0;
    one.setAttribute("role", "button");
    one.setAttribute("aria-label", NAMES[text] ?? words(one));
  }
}

function stops() {
  return [...document.querySelectorAll(STOPS)].filter((one) => one.checkVisibility());
}

function press(button) {
  const before = new Set(stops());
  button.click();
  setTimeout(() => {
    const first = stops().find((one) => !before.has(one));
    if (first) {
      [opener, inside] = [button, first];
      first.focus();
    } else if (!button.checkVisibility()) opener?.focus();
  }, SHOWN);
}

function leave() {
  if (inside.checkVisibility()) opener.click();
  opener.focus();
  inside = null;
}

addEventListener("keydown", (event) => {
  const button = event.target.closest?.("[role=button][x-on\\:click]");
  if (button && (event.key === "Enter" || event.key === " ")) {
    event.preventDefault();
    press(button);
  } else if (event.key === "Escape" && inside) setTimeout(leave, SHOWN);
});

addEventListener("load", makeReachable);
