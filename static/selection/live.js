// Keeps a running run's page fresh: every part is exchanged for the server's present one.
"use strict";

const EVERY = 2000;

async function fetchParts() {
  const address = new URL(location.href);
  address.searchParams.set("fragment", "1");
  const response = await fetch(address, { redirect: "error" });
  if (!response.ok) throw new Error(response.status);
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

// Somebody who tabs through a part must not lose their place, nor a click under way.
function busy(part) {
  return part.matches(":active") || part.contains(document.activeElement);
}

function exchange(fresh) {
  for (const part of fresh.querySelectorAll("[data-part]")) {
    const present = document.getElementById(part.id);
    if (!present || busy(present)) continue;
    present.replaceWith(part);
    showCopyButtons(part);
  }
}

async function refresh() {
  try {
    if (!document.hidden) {
      const fresh = await fetchParts();
      // It was paused or has ended: the whole page looks different now.
      if (!fresh.querySelector("#live-top[data-live]")) return location.reload();
      exchange(fresh);
    }
    document.body.classList.remove("cs-lost");
  } catch {
    document.body.classList.add("cs-lost"); // the server or the login is away: try again
  }
  setTimeout(refresh, EVERY);
}

if (document.querySelector("#live-top[data-live]")) setTimeout(refresh, EVERY);
