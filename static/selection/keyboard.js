// Unfold opens its menus, its filters and the account with its way out by clicks alone. Here the
// keyboard comes to what can be clicked: Enter and Space open, the focus goes in, Escape leaves.
"use strict";

const CLICKABLE = "a[x-on\\:click]:not([href]), span[x-on\\:click], div[x-on\\:click]";
const STOPS = "a[href], button, input, select, textarea, [tabindex='0']";
const ICON = ".material-symbols-outlined";
const NAMES = { dock_to_right: "Menu", close: "Close", more_horiz: "Actions" };
const SHOWN = 50; // milliseconds until what was opened is there

let opener = null;
let inside = null;

function makeReachable() {
  for (const one of document.querySelectorAll(CLICKABLE)) {
    const text = one.textContent.trim();
    if (!text) continue;
    one.tabIndex = 0;
    one.setAttribute("role", "button");
    // Icons are words in a font: they are read only where there are no others.
    const icons = one.matches(ICON) ? [one] : [...one.querySelectorAll(ICON)];
    const others = icons.reduce((rest, icon) => rest.replace(icon.textContent.trim(), ""), text);
    if (others.trim()) for (const icon of icons) icon.ariaHidden = "true";
    else one.setAttribute("aria-label", NAMES[text] ?? text.replace(/[_\s]+/g, " "));
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
