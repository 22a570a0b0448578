// Questions and messages, in the browser's own dialogs: they hold the focus, Escape closes them.

/** Say something that has to be read. */
export function tell(title, text) {
  const dialog = document.getElementById("message");
  dialog.querySelector("h2").textContent = title;
  dialog.querySelector("p").textContent = text;
  if (!dialog.open) dialog.showModal();
}

// For each dialog that is asking: takes the answer.
const asking = new Map();

/** Ask in a dialog by its id; gives the value of the button, or what was written; empty when canceled. */
export function ask(name, text = "", title = "") {
  const dialog = document.getElementById(name);
  const form = dialog.querySelector("form");
  // Browsers tell of a closing a moment late, and quick hands may have opened it again by then.
  asking.get(name)?.();
  if (title) dialog.querySelector("h2").textContent = title;
  if (text) dialog.querySelector(".explanation").textContent = text;
  form.reset();
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    const answer = () => {
      if (dialog.open) return;
      dialog.removeEventListener("close", answer);
      asking.delete(name);
      resolve(given(dialog.returnValue, form));
    };
    dialog.addEventListener("close", answer);
    asking.set(name, answer);
  });
}

function given(value, form) {
  if (value !== "own") return value;
  const written = new FormData(form);
  return (written.get("text") || written.get("preset") || "").trim().slice(0, 500);
}
