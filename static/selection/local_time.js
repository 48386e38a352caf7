// Shows each <time> in the browser's language and zone, with the name of the zone.
"use strict";

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
