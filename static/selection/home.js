// The overview: what goes on, as it is by now. Whoever is in it with the keyboard is not disturbed.
"use strict";

const EVERY = 15000;
const home = document.getElementById("home");

async function look() {
  try {
    if (!document.hidden && !home.contains(document.activeElement) && !home.matches(":active")) {
      const response = await fetch(location.href, { redirect: "error" });
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
