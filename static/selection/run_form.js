// A run's form: only the fields that the chosen algorithm reads, and what it would promise for what
// stands there now. Without this script all fields are shown, each saying who reads it.
"use strict";

let waiting;

// An error, or quotas that the algorithm cannot keep, must not be out of sight.
function mustShow(row) {
  if (row.querySelector(".errorlist")) return true;
  return [...row.querySelectorAll("[name^=quota_]")].some((field) => field.value.trim());
}

function skillsSaid(group) {
  if (group.querySelector(".errorlist, .errornote")) return true;
  return [...group.querySelectorAll("[name$=-question_set]")].some((field) => field.value);
}

function showFields(form) {
  const needs = JSON.parse(form.elements.algorithm.dataset.needs);
  const read = needs[form.elements.algorithm.value] ?? [];
  for (const name of new Set(Object.values(needs).flat())) {
    const row = name !== "budget" && form.elements[name]?.closest(".field-line");
    if (row) row.hidden = !read.includes(name) && !mustShow(row);
  }
  for (const fieldset of form.querySelectorAll("fieldset.module")) {
    if (fieldset.closest("[id$=-group]")) continue;
    fieldset.hidden = !fieldset.querySelector(".field-line:not([hidden])");
  }
  const skills = document.getElementById("further-group");
  if (skills) skills.hidden = !read.includes("skills") && !skillsSaid(skills);
}

function formValues(form) {
  const values = new URLSearchParams(new FormData(form));
  for (const name of ["csrfmiddlewaretoken", "quota_lines"]) values.delete(name);
  return values;
}

async function showPromises(form) {
  const base = location.pathname.replace(/run\/.*$/, "run/promises/");
  const response = await fetch(`${base}?${formValues(form)}`);
  if (!response.ok) return;
  const open = document.querySelector("#promises details")?.open;
  document.getElementById("promises").outerHTML = (await response.json()).html;
  const details = document.querySelector("#promises details");
  if (details && open) details.open = true;
  showAttributes(form.elements.quota_attribute);
  showGroups();
}

// The attributes of the pool that is chosen now; what was chosen stays if this pool has it too.
function showAttributes(field) {
  const fresh = document.getElementById("quota-attributes");
  if (!field || !fresh) return;
  const chosen = field.value;
  field.replaceChildren(...fresh.children);
  field.value = [...field.options].some((option) => option.value === chosen) ? chosen : "";
}

// Under the quotas: which attributes this pool's workers have, and how many have each value.
function showGroups() {
  const field = document.getElementById("id_quota_lines");
  document.querySelector(".cs-groups")?.remove();
  const groups = document.getElementById("quota-values");
  if (!field || !groups?.children.length) return;
  groups.className = "cs-groups";
  groups.hidden = false;
  field.after(groups);
}

document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("run_form");
  if (!form || !document.getElementById("promises")) return;
  document.documentElement.classList.add("cs-scripted");
  const later = () => {
    showFields(form);
    clearTimeout(waiting);
    waiting = setTimeout(() => showPromises(form), 250);
  };
  form.addEventListener("input", later);
  form.addEventListener("change", later);
  // The pool is chosen with a widget that speaks through jQuery only.
  window.django?.jQuery?.(form).on("change", later);
  showFields(form);
  showPromises(form);
});
