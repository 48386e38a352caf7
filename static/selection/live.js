// Keeps a running run's page fresh: exchanges the pieces that differ from those that are shown.
"use strict";

const EVERY = 2000;
// A server that stands still neither answers nor breaks off: what is shown would look as of now.
const SILENT = 15000;
const live = document.getElementById("live");
let tag = live?.dataset.live;
let shown = null; // HTML by name, from the first exchange on

// Null when nothing changed.
async function fetchPieces() {
  const headers = { "If-None-Match": `"${tag}"` };
  const asking = { headers, redirect: "error", signal: AbortSignal.timeout(SILENT) };
  const response = await fetch(live.dataset.url + location.search, asking);
  if (response.status === 304) return null;
  if (!response.ok) throw new Error(response.status);
  const pieces = await response.json();
  return { ...pieces, tag: response.headers.get("ETag").replace(/^W\/|"/g, "") };
}

const partOf = (name) => document.getElementById(`live-${name}`);

// A click under way, or words being marked to copy them, must not be cut short.
function busy(part) {
  const marked = getSelection();
  return part.matches(":active") || (!marked.isCollapsed && part.contains(marked.anchorNode));
}

// Somebody who goes from link to link by keyboard keeps their place.
function keepingPlace(change) {
  const focus = document.activeElement;
  const address = focus.getAttribute("href");
  change();
  if (focus.isConnected || !address) return focus.focus({ preventScroll: true });
  const same = [...document.querySelectorAll(".cs a")].find((one) => one.getAttribute("href") === address);
  same?.focus({ preventScroll: true });
}

function templateOf(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template;
}

const rowOf = (html) => templateOf(html).content.firstElementChild;

function isShown(name, html) {
  if (shown) return shown[name] === html;
  const present = partOf(name)?.innerHTML ?? document.getElementById(name)?.outerHTML;
  return present === templateOf(html).innerHTML;
}

function exchangeRows(fresh, order) {
  const body = document.getElementById("live-rows");
  for (const [id, html] of fresh) {
    const present = document.getElementById(id);
    if (present) present.replaceWith(rowOf(html));
    else body.append(rowOf(html));
  }
  if (order.join() === [...body.children].map((row) => row.id).join()) return;
  body.replaceChildren(...order.map((id) => document.getElementById(id)).filter(Boolean));
  body.parentElement.hidden = !order.length;
}

// False where something is in use: then all of it is asked for again.
function exchange({ parts, rows }) {
  const changed = (pieces) => Object.entries(pieces).filter((piece) => !isShown(...piece));
  // A page without models has no place for their money.
  const found = changed(parts).map(([name, html]) => [partOf(name), html]).filter(([part]) => part);
  if (found.some(([part]) => busy(part)) || busy(document.getElementById("live-rows"))) return false;
  keepingPlace(() => {
    for (const [part, html] of found) part.innerHTML = html;
    exchangeRows(changed(rows), Object.keys(rows));
  });
  return true;
}

async function refresh() {
  try {
    if (!document.hidden) {
      const pieces = await fetchPieces();
      // It was paused or has ended: the whole page looks different now.
      if (pieces && !pieces.live) return location.reload();
      if (pieces && exchange(pieces)) {
        tag = pieces.tag;
        shown = { ...pieces.parts, ...pieces.rows };
      }
    }
    document.body.classList.remove("cs-lost");
  } catch {
    document.body.classList.add("cs-lost"); // the server or the login is away: try again
  }
  setTimeout(refresh, EVERY);
}

// A link to a part that is folded opens it.
function unfoldTarget() {
  let part = document.getElementById(location.hash.slice(1))?.closest("details");
  for (; part; part = part.parentElement.closest("details")) part.open = true;
}

addEventListener("hashchange", unfoldTarget);
unfoldTarget();
if (live) setTimeout(refresh, EVERY);
