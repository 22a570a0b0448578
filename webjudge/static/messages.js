// Questions and messages: in the browser's own dialogs, in passing, and to those who do not see the page.

import { $, h } from "./dom.js";
import { focusTitle } from "./focus.js";
import { put } from "./parts.js";
import { html, nothing } from "./vendor/lit-html.js";
import { t, time } from "./words.js";

const TOAST_SECONDS = 10;
const SAVING_AFTER = 150;

/** Ask in a dialog by its id; gives the value of the button, or what was written; empty when canceled. */
export function ask(name, text = "", title = "") {
  const dialog = document.getElementById(name);
  const form = $("form", dialog);
  // Browsers tell of a closing a moment late, and quick hands may have opened it again by then.
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

/** Say something that has to be read. */
export const tell = (title, text) => ask("message", text, title);

function given(value, form) {
  if (value !== "own") return value;
  const written = new FormData(form);
  return (written.get("text") || written.get("preset") || "").trim().slice(0, 500);
}

/** Say something to those who do not see the page; the same twice in a row is said twice. */
export function announce(text) {
  const live = $("#announcement");
  live.textContent = live.textContent === text ? `${text}\u00a0` : text;
}

let hide = () => {};

/** Show what was just done, with a button to undo it; it goes by itself, but not under a hand. */
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
    // What has the focus is known a moment later.
    box.addEventListener(event, () => setTimeout(arm));
  }
  document.body.append(box);
  arm();
  hide = close;
}

export const hideToast = () => hide();

let shown = null;
let isOurs = false; // else it is what came with the page
let pending = 0;

/** Say in the bar how far saving is, but not what takes a moment only. */
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
    // The time is for those who look; saying it with each save would be too much.
    const at = savedAt ? html`<span aria-hidden="true"> ${time(savedAt)}</span>` : nothing;
    put(html`${short === text ? text : both}${at}`, line);
  };
  if (line.dataset.word !== word && details) announce(details);
  line.dataset.word = word;
  clearTimeout(pending);
  pending = setTimeout(say, word === "saving" ? SAVING_AFTER : 0);
}
