// Names for the parts of the theme that have none: scrolling regions, and columns without a heading.
"use strict";

function nameRegions() {
  const names = { "nav-sidebar-apps": "Menu" };
  document.querySelectorAll("[data-simplebar]").forEach((part, number) => {
    const heading = part.closest(".inline-group")?.querySelector("h2")?.textContent.trim();
    const filters = part.closest("#changelist-filter") && "Filters";
    const name = names[part.id] ?? filters ?? heading ?? (number ? `Table ${number}` : "Table");
    part.setAttribute("data-simplebar-aria-label", name);
  });
}

function nameColumns() {
  for (const cell of document.querySelectorAll("table.formset thead th")) {
    if (!cell.textContent.trim()) cell.textContent = "Delete";
  }
}

// On a phone the first cell of a row has a label of its own, for a box to tick that may not be there.
function nameFirstCells() {
  for (const row of document.querySelectorAll("#result_list tbody tr")) {
    const first = row.querySelector("td[data-label]");
    const heading = document.querySelector("#result_list thead th");
    if (first && heading && !first.querySelector("input")) {
      first.dataset.label = heading.textContent.trim();
    }
  }
}

// Before the theme's own script, which listens for the same event and makes the regions.
document.addEventListener("DOMContentLoaded", () => {
  nameRegions();
  nameColumns();
  nameFirstCells();
});
