// A draft's page: orders what it is expected to cost, and shows it while it is refined.
"use strict";

const EVERY = 3000;
const expected = document.getElementById("expected");

// The page as it is now, after a form was sent or for a look.
async function exchange(address, sent) {
  const response = await fetch(address, sent);
  if (!response.ok) throw new Error(response.status);
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const fresh = page.getElementById("expected");
  if (fresh && !expected.matches(":active") && !expected.contains(document.activeElement)) {
    expected.replaceChildren(...fresh.childNodes);
  }
}

async function look() {
  try {
    if (!document.hidden) await exchange(location.href);
  } catch {
    // the server or the login is away: try again
  }
  keep();
}

function keep() {
  if (expected.querySelector("[data-going]")) setTimeout(look, EVERY);
}

async function begin() {
  const form = expected.querySelector("form[data-order]");
  if (form) {
    const waits = document.createElement("p");
    waits.className = "cs-soft";
    waits.textContent = "Working out what it will cost…";
    const sent = { method: "POST", body: new FormData(form) };
    form.replaceWith(waits);
    await exchange(form.action, sent).catch(() => waits.replaceWith(form));
  }
  keep();
}

if (expected) begin();
