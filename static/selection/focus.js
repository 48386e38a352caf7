// The keyboard begins at what is wrong in a form, else where the page says. (Browsers do the second
// by themselves, but not on pages that are hidden until their scripts have run.)
"use strict";

function beginning() {
  const wrong = document.querySelector("main [aria-invalid=true]:not([type=hidden])");
  const chosen = wrong?.nextElementSibling?.querySelector(".select2-selection");
  return chosen ?? wrong ?? said() ?? document.querySelector("[autofocus]") ?? firstOfNew();
}

// Django's own script looks for it once, perhaps while the page is still hidden.
function firstOfNew() {
  const model = document.getElementById("django-admin-form-add-constants")?.dataset.modelName;
  const fields = [...(document.getElementById(`${model}_form`)?.elements ?? [])];
  return fields.find(field => field.matches("input, select, textarea") && !field.disabled && field.offsetParent);
}

// What is wrong with the whole of a form, or of a file, stands in no field.
function said() {
  const words = document.querySelector("main [role=alert]:not([hidden])");
  if (words) words.tabIndex = -1;
  return words;
}

// A part that is still hidden takes no focus, and one that is hidden again loses it: for a second,
// the beginning is sought anew as long as nothing else has the focus and nobody has acted.
let acted = false;
for (const kind of ["keydown", "pointerdown"]) addEventListener(kind, () => { acted = true; }, { once: true });

function begin(times) {
  if (acted || location.hash) return;
  if (document.activeElement === document.body) beginning()?.focus();
  if (times) setTimeout(() => begin(times - 1), 50);
}

if (document.readyState === "complete") begin(20);
else addEventListener("load", () => begin(20));
