// What needs a passkey is shown where the browser knows them, and says what went wrong.
"use strict";

const failed = {
  NotAllowedError: "That was cancelled, or it took too long. Try again.",
  InvalidStateError: "This passkey is known here already.",
  SecurityError: "Passkeys work on this server's own address with https, or on localhost.",
};

for (const part of document.querySelectorAll("[data-passkey]")) {
  part.hidden = !window.PublicKeyCredential;
}
for (const part of document.querySelectorAll("[data-no-passkey]")) {
  part.hidden = Boolean(window.PublicKeyCredential);
}
document.addEventListener("allauth.error", (event) => {
  const place = document.querySelector("[data-passkey-error]");
  const { exception } = event.detail;
  if (!place) return;
  place.textContent = failed[exception.name] || "That did not work: " + exception.message;
  place.hidden = false;
  event.preventDefault();
});
