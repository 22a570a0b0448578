// Templates that several views share.

import { $, $$ } from "./dom.js";
import { html, nothing, render } from "./vendor/lit-html.js";
import { t } from "./words.js";

/** Draw into an element; anew where a browser that translates pages put texts elsewhere: lit-html would miss them. */
export function put(template, element) {
  if ($("font", element) && !document.activeElement?.matches("textarea")) {
    const place = $("#reader", element)?.scrollTop;
    render(nothing, element);
    render(template, element);
    if (place) $("#reader").scrollTop = place;
  } else render(template, element);
}

export const classes = (...names) => names.filter(Boolean).join(" ");

/** A solution's badge: filled if ranked, else outlined. */
export const sign = (label, isRanked = true) => html`<span class=${classes("letter", !isRanked && "open")}
  translate="no">${label}</span>`;

export const key = (name) => html`<kbd aria-hidden="true">${name}</kbd>`;

/** A button with an action of actions.js. */
export const button = (action, content, { kind = "", keys = nothing, isOff = false } = {}) => html`
  <button type="button" class="btn ${kind}" data-do=${action} aria-keyshortcuts=${keys}
    ?disabled=${isOff}>${content}</button>`;

/** The reason for "cannot judge"; predefined ones are stored in English. */
export const reasonText = (reason) => (
  $$("#cannot-reason [type=radio]").find((choice) => choice.value === reason)?.nextElementSibling.textContent ?? reason
);

export const noun = (page) => (page.isGrading ? t("Candidate") : t("Solution"));
export const named = (page, label) => (
  page.isGrading ? t("Candidate {label}", { label }) : t("Solution {label}", { label })
);

/** The button that opens the menu of a solution. */
export const more = (page, label, kind, tabindex = nothing) => html`
  <button type="button" class=${kind} data-more=${label} tabindex=${tabindex} aria-haspopup="menu"
    aria-label=${page.isGrading
      ? t("Candidate {label}: more actions", { label })
      : t("Solution {label}: more actions", { label })}>…</button>`;
