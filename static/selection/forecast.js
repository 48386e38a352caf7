// Keeps a forecast fresh while it is refined: asks for its numbers every two seconds.
"use strict";

const EVERY = 2000;
const numbers = document.getElementById("numbers");

document.documentElement.classList.add("cs-scripted");

// A click under way, or a place held by keyboard, must not be lost.
function exchange(html) {
  if (numbers.matches(":active")) return;
  const open = [...numbers.querySelectorAll("details[open]")].map((one) => one.id);
  const focus = numbers.contains(document.activeElement) ? document.activeElement.id : "";
  numbers.innerHTML = html;
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
}

async function refresh() {
  try {
    if (!document.hidden) {
      const response = await fetch(numbers.dataset.url, { redirect: "error" });
      if (response.ok) exchange(await response.text());
    }
  } catch {
    // the server or the login is away: try again
  }
  keep();
}

function keep() {
  if (numbers?.querySelector("[data-going]")) setTimeout(refresh, EVERY);
}

keep();
