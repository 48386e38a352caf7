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

// A click under way, or words being marked to copy them, must not be cut short.
function busy(part) {
  const marked = getSelection();
  return part.matches(":active") || (!marked.isCollapsed && part.contains(marked.anchorNode));
}

function purpose(element) {
  const { tagName, dataset } = element;
  return [tagName, dataset.copy, element.getAttribute("href"), element.getAttribute("formaction")].join();
}

// Somebody who goes from link to link by keyboard keeps their place.
function focusAgain(part, wanted) {
  const found = [...part.querySelectorAll("a, button")].find((one) => purpose(one) === wanted);
  found?.focus({ preventScroll: true });
}

function exchange(fresh) {
  for (const part of fresh.querySelectorAll("[data-part]")) {
    const present = document.getElementById(part.id);
    if (!present || busy(present)) continue;
    const wanted = present.contains(document.activeElement) && purpose(document.activeElement);
    present.replaceWith(part);
    showCopyButtons(part);
    if (wanted) focusAgain(part, wanted);
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
