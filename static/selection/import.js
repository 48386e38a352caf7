// A large file's preview: shows how far its rows are checked, until all are.
"use strict";

const EVERY = 1500;
const page = document.getElementById("import");

async function look() {
  try {
    if (!document.hidden && !page.querySelector("details[open]")) {
      const response = await fetch(location.href, { redirect: "error" });
      const fresh = new DOMParser()
        .parseFromString(await response.text(), "text/html")
        .getElementById("import");
      if (response.ok && fresh && !page.matches(":active")) {
        page.replaceChildren(...fresh.childNodes);
        if (!fresh.hasAttribute("data-going")) return;
      }
    }
  } catch {
    // the server or the login is away: try again
  }
  setTimeout(look, EVERY);
}

setTimeout(look, EVERY);
