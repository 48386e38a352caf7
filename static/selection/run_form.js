// A run's form: only the fields that the chosen algorithm reads, and what it would guarantee for
// what stands there now. Without this script all fields are shown, each saying who reads it.
"use strict";

let waiting;
let pricing;
let priced = { asked: "", found: {} };
// Whether a person has chosen the algorithm: until then it is the one that fits.
let chosen = !location.pathname.endsWith("/add/");

// An error, or quotas that the algorithm cannot keep, must not be out of sight.
function mustShow(row) {
  if (row.querySelector(".errorlist")) return true;
  // What another algorithm would not heed is in sight as long as it is asked for.
  const kinds = document.getElementById("further-group");
  if (row.querySelector("[name=one_kind_each]")?.value === "True") return skillsSaid(kinds);
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
  for (const name of ["csrfmiddlewaretoken", "quota_lines", "name"]) values.delete(name);
  return values;
}

async function showGuarantees(form) {
  const base = location.pathname.replace(/run\/.*$/, "run/guarantees/");
  const response = await fetch(`${base}?${formValues(form)}`);
  if (!response.ok) return;
  const open = document.querySelector("#guarantees details")?.open;
  document.getElementById("guarantees").outerHTML = (await response.json()).html;
  const details = document.querySelector("#guarantees details");
  if (details && open) details.open = true;
  showAttributes(form.elements.quota_attribute);
  showGroups();
  if (priced.asked === formValues(form).toString()) writePrices(form, priced.found);
}

// What each algorithm would cost: simulated, so it comes later than the guarantees, and is kept for
// as long as nothing that it depends on changes.
async function showPrices(form) {
  const asked = formValues(form).toString();
  if (asked !== priced.asked) {
    const base = location.pathname.replace(/run\/.*$/, "run/prices/");
    const response = await fetch(`${base}?${asked}`).catch(() => null);
    if (asked !== formValues(form).toString()) return;
    priced = { asked, found: response?.ok ? await response.json() : {} };
  }
  writePrices(form, priced.found);
}

function writePrices(form, { prices = {}, fits, warning }) {
  for (const place of document.querySelectorAll("[data-price]")) {
    place.textContent = prices[place.dataset.price] ?? "";
  }
  const note = document.getElementById("prices");
  if (!note || !fits) return;
  note.hidden = false;
  note.classList.toggle("warn", Boolean(warning));
  note.replaceChildren(...[warning, fits.words].filter(Boolean).map(paragraph));
  const accuracy = form.elements.option_accuracy;
  const taken = form.elements.algorithm.value === fits.algorithm && (!fits.accuracy || accuracy?.value === fits.accuracy);
  if (taken || !fits.ends) return;
  const take = () => {
    form.elements.algorithm.value = fits.algorithm;
    if (accuracy && fits.accuracy) accuracy.value = fits.accuracy;
    form.dispatchEvent(new Event("change"));
  };
  if (!chosen) return take();
  const button = Object.assign(document.createElement("button"), { type: "button", className: "cs-button", textContent: "Take it" });
  button.addEventListener("click", take);
  note.append(button);
}

function paragraph(words) {
  return Object.assign(document.createElement("p"), { textContent: words });
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
  if (!form || !document.getElementById("guarantees")) return;
  document.documentElement.classList.add("cs-scripted");
  chosen ||= "chosen" in form.elements.algorithm.dataset;
  const later = () => {
    showFields(form);
    clearTimeout(waiting);
    clearTimeout(pricing);
    waiting = setTimeout(() => showGuarantees(form), 250);
    pricing = setTimeout(() => showPrices(form), 1000);
  };
  form.addEventListener("input", (event) => {
    chosen ||= event.target === form.elements.algorithm;
    later();
  });
  form.addEventListener("change", later);
  // The pool is chosen with a widget that speaks through jQuery only.
  window.django?.jQuery?.(form).on("change", later);
  showFields(form);
  showGuarantees(form);
  pricing = setTimeout(() => showPrices(form), 1000);
});
