// Select2 names its comboboxes by what is chosen; they are called as their labels say.
"use strict";

function nameThem() {
  for (const box of document.querySelectorAll(".select2-selection[role=combobox]")) {
    const select = box.closest(".select2")?.previousElementSibling;
    const label = select?.labels?.[0];
    if (label && !box.hasAttribute("aria-label")) {
      for (const part of [box, ...box.querySelectorAll("[role=textbox]")]) {
        part.setAttribute("aria-label", label.textContent.trim());
      }
      const chosen = box.getAttribute("aria-labelledby");
      box.removeAttribute("aria-labelledby");
      if (chosen) box.setAttribute("aria-describedby", chosen);
    }
  }
}

// Rows of a form are added later, and theirs come with them.
addEventListener("load", () => {
  nameThem();
  new MutationObserver(nameThem).observe(document.body, { childList: true, subtree: true });
});
