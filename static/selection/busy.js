// Long work inside one request: say that it goes on, with the seconds, and take no second click.
"use strict";

document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-busy]");
  if (!form || event.submitter?.name === "cancel") return;
  const started = Date.now();
  const bar = document.createElement("div");
  bar.className = "cs-busy";
  bar.setAttribute("role", "status");
  form.append(bar);
  const tick = () => {
    const seconds = Math.round((Date.now() - started) / 1000);
    bar.textContent = `${form.dataset.busy} ${seconds} s`;
  };
  tick();
  setInterval(tick, 1000);
  // After the submission has gathered its fields, which leaves out disabled buttons.
  setTimeout(() => form.querySelectorAll("button").forEach((button) => (button.disabled = true)));
});
