// Questions and messages: dialogs, toasts, and announcements for screen readers.

import { $, h } from "./dom.js";
import { focusTitle } from "./focus.js";
import { put } from "./parts.js";
import { html, nothing } from "./vendor/lit-html.js";
import { t, time } from "./words.js";

const TOAST_SECONDS = 10;
const SAVING_AFTER = 150;

/** Open a dialog by id; returns the button's value or the text, empty if canceled. */
export function ask(name, text = "", title = "") {
  const dialog = document.getElementById(name);
  const form = $("form", dialog);
  // The close event comes late; the dialog may be open again by then.
  dialog.onclose?.();
  if (title) $("h2", dialog).textContent = title;
  if (text) $(".explanation", dialog).textContent = text;
  form.reset();
  dialog.returnValue = "";
  if (!dialog.open) dialog.showModal();
  return new Promise((resolve) => {
    dialog.onclose = () => {
      if (dialog.open) return;
      dialog.onclose = null;
      resolve(given(dialog.returnValue, form));
    };
  });
}

/** Show a message that must be confirmed. */
export const tell = (title, text) => ask("message", text, title);

function given(value, form) {
  if (value !== "own") return value;
  const written = new FormData(form);
  return (written.get("text") || written.get("preset") || "").trim().slice(0, 500);
}

/** Announce a text to screen readers, also if it repeats the last one. */
export function announce(text) {
  const live = $("#announcement");
  live.textContent = live.textContent === text ? `${text}\u00a0` : text;
}

let hide = () => {};

/** Show a toast with an undo button; it disappears unless hovered or focused. */
export function toast(text, undo = null, question = nothing) {
  hide();
  const box = h("aside.toast", { "aria-label": t("Just done") });
  let timer = 0;
  const close = () => {
    clearTimeout(timer);
    const hadFocus = box.contains(document.activeElement);
    box.remove();
    if (hadFocus) focusTitle();
  };
  const arm = () => {
    clearTimeout(timer);
    if (box.isConnected && !box.matches(":hover, :focus-within")) timer = setTimeout(close, TOAST_SECONDS * 1000);
  };
  const undone = () => {
    close();
    undo();
  };
  put(html`<span>${text}</span>${question}${undo
    && html`<button type="button" class="btn" @click=${undone}>${t("Undo")}</button>`}`, box);
  for (const event of ["pointerenter", "pointerleave", "focusin", "focusout"]) {
    // The new focus is known only after the event.
    box.addEventListener(event, () => setTimeout(arm));
  }
  document.body.append(box);
  arm();
  hide = close;
}

export const hideToast = () => hide();

let shown = null;
let isOurs = false; // else it is the server's initial text
let pending = 0;

/** Show the saving state in the bar, except for states that last a moment. */
export function sayStatus(status) {
  if (status === shown) return;
  shown = status;
  const line = $("#save-status");
  const { word, text, details = "", savedAt = null, short = text } = status;
  const say = () => {
    if (!isOurs) line.replaceChildren();
    isOurs = true;
    line.title = details;
    const both = html`<span class="in-full">${text}</span><span class="in-short">${short}</span>`;
    // The time is visible only: announcing it with each save would be too much.
    const at = savedAt ? html`<span aria-hidden="true"> ${time(savedAt)}</span>` : nothing;
    put(html`${short === text ? text : both}${at}`, line);
  };
  if (line.dataset.word !== word && details) announce(details);
  line.dataset.word = word;
  clearTimeout(pending);
  pending = setTimeout(say, word === "saving" ? SAVING_AFTER : 0);
}
