// Next to a run's form: what each algorithm promises for the numbers that stand there now.
"use strict";

const WATCHED = ["pool", "k", "epsilon", "delta", "budget"];
let waiting;

function formValues(form) {
  return new URLSearchParams(WATCHED.map((name) => [name, form.elements[name]?.value ?? ""]));
}

async function showPromises(form) {
  const base = location.pathname.replace(/run\/.*$/, "run/promises/");
  const response = await fetch(`${base}?${formValues(form)}`);
  if (!response.ok) return;
  document.getElementById("promises").outerHTML = (await response.json()).html;
}

document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("run_form");
  if (!form || !document.getElementById("promises")) return;
  const later = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => showPromises(form), 250);
  };
  form.addEventListener("input", later);
  form.addEventListener("change", later);
  // The pool is chosen with a widget that speaks through jQuery only.
  window.django?.jQuery?.(form).on("change", later);
  showPromises(form);
});
