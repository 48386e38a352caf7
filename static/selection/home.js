// The overview: what goes on, as it is by now. Whoever is in it with the keyboard is not disturbed.
"use strict";

const EVERY = 15000;
const SILENT = 15000; // a server that stands still does not even break off
const home = document.getElementById("home");

async function look() {
  try {
    if (!document.hidden && !home.contains(document.activeElement) && !home.matches(":active")) {
      const asking = { redirect: "error", signal: AbortSignal.timeout(SILENT) };
      const response = await fetch(location.href, asking);
      const fresh = new DOMParser()
        .parseFromString(await response.text(), "text/html")
        .getElementById("home");
      if (response.ok && fresh) home.replaceChildren(...fresh.childNodes);
    }
  } catch {
    // the server or the login is away: try again
  }
  setTimeout(look, EVERY);
}

setTimeout(look, EVERY);
