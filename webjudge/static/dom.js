// Small helpers for elements, and what is said in passing.

import { t } from "./words.js";

/**
 * Make an element: h("button.btn.primary", { type: "button" }, "text", child).
 *
 * Attributes that are null or false are left out; of the children, null and false.
 */
export function h(what, attributes = {}, ...children) {
  const [tag, ...classes] = what.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const $ = (selector, root = document) => root.querySelector(selector);
export const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

/** The sign of a solution: filled where it has a place, outlined where it has none. */
export const letter = (label, isRanked = true) => h(`span.letter${isRanked ? "" : ".open"}`, {}, label);

/** A button with an action of the page, `doing` of workspace.js. */
export const button = (action, text, { kind = "", ...attributes } = {}) => h(
  `button.btn${kind}`, { type: "button", "data-do": action, ...attributes }, text,
);

export const sign = (text) => h("span", { "aria-hidden": "true" }, text);

/** Why a solution cannot be judged: a reason of the page's own is stored in English. */
export const reasonText = (reason) => (
  $$("#cannot-reason [type=radio]").find((choice) => choice.value === reason)?.nextElementSibling.textContent ?? reason
);

/** Say something to those who do not see the page; the same twice in a row is said twice. */
export function announce(text) {
  const live = $("#announcement");
  live.textContent = live.textContent === text ? `${text}\u00a0` : text;
}

const TOAST_SECONDS = 10;
let hide = () => {};

/** Show what was just done, with a button; it goes by itself, but not under a hand. */
export function toast(text, action = "", run = null, question = null) {
  hide();
  const box = h("aside.toast", { "aria-label": t("Just done") }, h("span", {}, text), question);
  let timer = 0;
  const close = () => {
    clearTimeout(timer);
    if (!box.isConnected) return;
    const hadFocus = box.contains(document.activeElement);
    box.remove();
    if (hadFocus) $("#main h2")?.focus({ preventScroll: true });
  };
  const arm = () => {
    clearTimeout(timer);
    if (!box.matches(":hover, :focus-within")) timer = setTimeout(close, TOAST_SECONDS * 1000);
  };
  if (run) {
    const undo = h("button.btn", { type: "button" }, action);
    undo.addEventListener("click", () => {
      close();
      run();
    });
    box.append(undo);
  }
  for (const event of ["pointerenter", "pointerleave", "focusin", "focusout"]) {
    // What has the focus is known a moment later.
    box.addEventListener(event, () => setTimeout(arm));
  }
  document.body.append(box);
  hide = close;
  arm();
}

export const hideToast = () => hide();
