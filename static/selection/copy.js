// Buttons that copy a text. They are hidden where there is no script to make them work.
"use strict";

function showCopyButtons(root) {
  for (const button of root.querySelectorAll("[data-copy]")) button.hidden = false;
}

async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Browsers offer the clipboard on https and localhost only.
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const words = button.textContent;
  try {
    await copyText(button.dataset.copy);
    button.textContent = "copied";
  } catch {
    button.textContent = "failed";
  }
  setTimeout(() => (button.textContent = words), 1500);
});

showCopyButtons(document);
