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

// Before the theme's own script, which listens for the same event and makes the regions.
document.addEventListener("DOMContentLoaded", () => {
  nameRegions();
  nameColumns();
});
