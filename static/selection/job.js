// Asks every second whether a request to another machine has ended, and then shows the page anew.
"use strict";

const EVERY_SECOND = 1000;
const PROGRESS = "[data-job-progress]";  // results so far

async function look() {
  try {
    if (!document.hidden) {
      const response = await fetch(location.href, { redirect: "manual" });
      if (response.type === "opaqueredirect") return location.reload();
      const text = response.ok ? await response.text() : "data-job-going";
      if (!text.includes("data-job-going")) return location.reload();
      const part = new DOMParser().parseFromString(text, "text/html").querySelector(PROGRESS);
      if (part) document.querySelector(PROGRESS)?.replaceWith(part);
    }
  } catch {
    // the server or the login is away: try again
  }
  setTimeout(look, EVERY_SECOND);
}

if (document.querySelector("[data-job-going]")) setTimeout(look, EVERY_SECOND);
