// Questions and messages, in the browser's own dialogs: they hold the focus, Escape closes them.

/** Say something that has to be read. */
export function tell(title, text) {
  const dialog = document.getElementById("message");
  dialog.querySelector("h2").textContent = title;
  dialog.querySelector("p").textContent = text;
  if (!dialog.open) dialog.showModal();
}

/**
 * Ask in one of the page's dialogs.
 *
 * @param {string} name the dialog's id
 * @param {string} [text] an explanation
 * @param {string} [title]
 * @returns {Promise<string>} the value of the button, or what was written; empty when cancelled
 */
export function ask(name, text = "", title = "") {
  const dialog = document.getElementById(name);
  const form = dialog.querySelector("form");
  if (title) dialog.querySelector("h2").textContent = title;
  if (text) dialog.querySelector(".explanation").textContent = text;
  form.reset();
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      if (dialog.returnValue !== "own") {
        resolve(dialog.returnValue);
        return;
      }
      const given = new FormData(form);
      resolve((given.get("text") || given.get("preset") || "").trim().slice(0, 500));
    }, { once: true });
  });
}
