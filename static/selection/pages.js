// Scripts of the requester's pages.
"use strict";

// Select2 names its comboboxes by what is chosen; they are called as their labels say.

function nameComboboxes() {
  for (const box of document.querySelectorAll(".select2-selection[role=combobox]")) {
    const select = box.closest(".select2")?.previousElementSibling;
    const label = select?.labels?.[0];
    if (label && !box.hasAttribute("aria-label")) {
      for (const part of [box, ...box.querySelectorAll("[role=textbox]")]) {
        part.setAttribute("aria-label", label.textContent.trim());
      }
      const chosen = box.getAttribute("aria-labelledby");
      box.removeAttribute("aria-labelledby");
      if (chosen) box.setAttribute("aria-describedby", chosen);
    }
  }
}

// Rows of a form are added later, and theirs come with them.
addEventListener("load", () => {
  nameComboboxes();
  new MutationObserver(nameComboboxes).observe(document.body, { childList: true, subtree: true });
});

// Names for columns of the theme without a heading.

function nameColumns() {
  for (const cell of document.querySelectorAll("table.formset thead th")) {
    if (!cell.textContent.trim()) cell.textContent = "Delete";
  }
}

// On a phone the first cell of a row has a label of its own, for a box to tick that may not be there.
function nameFirstCells() {
  for (const row of document.querySelectorAll("#result_list tbody tr")) {
    const first = row.querySelector("[data-label]");
    const heading = document.querySelector("#result_list thead th");
    if (first && heading && !first.querySelector("input")) {
      first.dataset.label = heading.textContent.trim();
    }
  }
}

document.addEventListener("DOMContentLoaded", () => {
  nameColumns();
  nameFirstCells();
});

// Shows each <time> in the browser's language and zone, with the name of the zone.

const LOCAL = new Intl.DateTimeFormat(undefined, {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "numeric",
  minute: "2-digit",
  timeZoneName: "short",
});

function localize(time) {
  const at = new Date(time.dateTime);
  if (time.title || isNaN(at)) return;
  time.title = time.textContent; // the server's words, in its zone
  time.textContent = LOCAL.format(at);
}

const localizeAll = () => document.querySelectorAll("time[datetime]").forEach(localize);

document.addEventListener("DOMContentLoaded", () => {
  localizeAll();
  // Live parts of a page are replaced later.
  new MutationObserver(localizeAll).observe(document.body, { childList: true, subtree: true });
});

// The keyboard begins at what is wrong in a form, else where the page says. (Browsers do the second
// by themselves, but not on pages that are hidden until their scripts have run.)

function findBeginning() {
  const wrong = document.querySelector("main [aria-invalid=true]:not([type=hidden])");
  const chosen = wrong?.nextElementSibling?.querySelector(".select2-selection");
  return chosen ?? wrong ?? findAlert() ?? document.querySelector("[autofocus]") ?? findFirstField();
}

// Django's own script looks for it once, perhaps while the page is still hidden.
function findFirstField() {
  const model = document.getElementById("django-admin-form-add-constants")?.dataset.modelName;
  const fields = [...(document.getElementById(`${model}_form`)?.elements ?? [])];
  return fields.find(field => field.matches("input, select, textarea") && !field.disabled && field.offsetParent);
}

// What is wrong with the whole of a form, or of a file, stands in no field.
function findAlert() {
  const words = document.querySelector("main [role=alert]:not([hidden])");
  if (words) words.tabIndex = -1;
  return words;
}

// A part that is still hidden takes no focus, and one that is hidden again loses it: for a second,
// the beginning is sought anew as long as nothing else has the focus and nobody has acted.
let acted = false;
for (const kind of ["keydown", "pointerdown"]) addEventListener(kind, () => { acted = true; }, { once: true });

function focusBeginning(times) {
  if (acted || location.hash) return;
  if (document.activeElement === document.body) findBeginning()?.focus();
  if (times) setTimeout(() => focusBeginning(times - 1), 50);
}

addEventListener("load", () => focusBeginning(20));

// Unfold opens its menus, its filters and the account with its way out by clicks alone. Here the
// keyboard comes to what can be clicked: Enter and Space open, the focus goes in, Escape leaves.

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

// Buttons that copy a text. They are hidden where there is no script to make them work.

async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Browsers offer the clipboard on https and localhost only.
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const words = button.textContent;
  try {
    await copyText(button.dataset.copy);
    button.textContent = "copied";
  } catch {
    button.textContent = "failed";
  }
  setTimeout(() => (button.textContent = words), 1500);
});

addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;
});

// Long work inside one request: say that it goes on, with the seconds, and take no second click.

document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-busy]");
  if (!form || event.submitter?.name === "cancel") return;
  const started = Date.now();
  const bar = document.createElement("div");
  bar.className = "cs-busy";
  bar.setAttribute("role", "status");
  form.append(bar);
  const tick = () => {
    const seconds = Math.round((Date.now() - started) / 1000);
    bar.textContent = `${form.dataset.busy} ${seconds} s`;
  };
  tick();
  setInterval(tick, 1000);
  // After the submission has gathered its fields, which leaves out disabled buttons.
  setTimeout(() => form.querySelectorAll("button").forEach((button) => (button.disabled = true)));
});

// The theme's script scrolls the menu to the page that is open, in a scroll bar of a library's making.
// Here browsers scroll.
const SimpleBar = { instances: { get: (part) => ({ getScrollElement: () => part }) } };

// Parts that change while the page is open: data-refresh has the seconds between two looks. It is
// looked at as long as data-going stands in one of them; a part that is gone means another page.
const PATIENCE = 15000; // a server that stands still does not even break off
const isGoing = (part) => part.matches("[data-going]") || part.querySelector("[data-going]");

// A click under way, a field, words being marked or a place without a name must not be lost.
function isInUse(part) {
  const [focus, marked] = [document.activeElement, getSelection()];
  return (
    part.matches(":active") ||
    part.querySelector("details[open]:not([id])") ||
    (part.contains(focus) && (!focus.id || focus.matches("input, select, textarea"))) ||
    (!marked.isCollapsed && part.contains(marked.anchorNode))
  );
}

function exchangePart(part, fresh) {
  if (isInUse(part)) return;
  const open = [...part.querySelectorAll("details[open]")].map((one) => one.id);
  const focus = part.contains(document.activeElement) ? document.activeElement.id : "";
  part.toggleAttribute("data-going", fresh.matches("[data-going]"));
  part.replaceChildren(...fresh.childNodes);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
}

async function refreshParts(address = location.href, sent = { redirect: "manual" }) {
  try {
    const response = await fetch(address, { ...sent, signal: AbortSignal.timeout(PATIENCE) });
    if (response.type === "opaqueredirect") return location.reload();
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const part of response.ok ? document.querySelectorAll("[data-refresh]") : []) {
      const fresh = page.getElementById(part.id);
      if (!fresh) return location.reload();
      exchangePart(part, fresh);
    }
  } catch {
    // the server or the login is away: try again
  }
  planRefresh();
}

function planRefresh() {
  const parts = [...document.querySelectorAll("[data-refresh]")].filter(isGoing);
  const seconds = Math.min(...parts.map((part) => part.dataset.refresh));
  const look = () => (document.hidden ? planRefresh() : refreshParts());
  if (parts.length) setTimeout(look, 1000 * seconds);
}

// A draft's page orders what it is expected to cost.
function orderForecast(form) {
  const sent = { method: "POST", body: new FormData(form) };
  form.outerHTML = "<p class='cs-soft'>Working out what it will cost…</p>";
  refreshParts(form.action, sent);
}

addEventListener("DOMContentLoaded", () => {
  const form = document.querySelector("form[data-order]");
  if (form) orderForecast(form);
  else planRefresh();
});
