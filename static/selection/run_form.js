// A run's form: only the fields that the chosen algorithm reads, and six algorithms until more are
// asked for. Without this script all are shown, each field saying which algorithms read it.
"use strict";

// An error, or what another algorithm would not heed, must not be out of sight.
function mustShow(line) {
  if (line.querySelector(".errorlist, .text-red-600, [aria-invalid=true]")) return true;
  if (line.querySelector("[name=one_kind_each]")?.value === "True") return true;
  return [...line.querySelectorAll("[name^=quota_], [name=skills]")].some((field) => field.value.trim());
}

// In the guided start an algorithm that is not chosen yet may read these.
function showFields(form) {
  const needs = JSON.parse(form.elements.algorithm.dataset.needs);
  const read = needs[form.elements.algorithm.value] ?? ["quota_attribute", "quota_lines", "pass_mark", "by_price", "skills", "one_kind_each"];
  for (const name of new Set(Object.values(needs).flat())) {
    const field = name !== "budget" && form.elements[name];
    const line = field && field.closest(".cs-row > *");
    if (line) line.hidden = !read.includes(name) && !mustShow(line);
  }
  for (const part of form.querySelectorAll(".cs-part")) part.hidden = !part.querySelector(".cs-row > :not([hidden])");
}

function foldAlgorithms(select) {
  const others = [...select.querySelectorAll("optgroup")].slice(1).filter((group) => ![...group.children].some((option) => option.selected));
  const count = others.flatMap((group) => [...group.children]).length;
  const more = Object.assign(document.createElement("button"), { type: "button", className: "cs-button cs-more", textContent: `Show ${count} other algorithms` });
  more.addEventListener("click", () => {
    for (const group of others) group.hidden = false;
    more.remove();
    select.focus();
  });
  for (const group of others) group.hidden = true;
  if (count) (select.closest(".cs-row > *") ?? select.parentNode).append(more);
}

document.addEventListener("DOMContentLoaded", () => {
  const form = document.querySelector("[data-needs]")?.form;
  if (!form) return;
  form.addEventListener("change", () => showFields(form));
  showFields(form);
  foldAlgorithms(form.elements.algorithm);
});
