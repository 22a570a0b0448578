// Two solutions beside each other, and the question which is better.

import { $, $$ } from "./dom.js";
import { button, classes, key, put, sign } from "./parts.js";
import { loading } from "./reader.js";
import { html, nothing } from "./vendor/lit-html.js";
import { number, t } from "./words.js";

// Panes scroll together up to this ratio of their lengths.
const ALIKE = 2;
const STEP = 60;

/** A button's text, or its symbol on a phone. */
const short = (mark, text) => html`
  <span class="on-phone" aria-hidden="true">${mark}</span><span class="name">${text}</span>`;

let leader = null; // the pane that the judge scrolls

/** Draw the question; a pane whose solution stays keeps its place. */
export function drawComparing(page) {
  const { label, other, side } = page.question;
  const [left, right] = side === "left" ? [label, other] : [other, label];
  const places = Object.fromEntries($$(".pane").map((one) => [one.dataset.pane, $(".body", one).scrollTop]));
  const lead = { handleEvent: ({ target }) => { leader = target.closest(".body"); }, passive: true };
  put(html`
    <div class="compare" role="region" aria-labelledby="compare-title">
      ${head(page, left, right)}
      <div class="panes" @wheel=${lead} @touchstart=${lead} @pointerdown=${lead} @keydown=${lead} @focusin=${lead}>${
        pane(page, left, t("Left: solution {label}", { label: left }), "left-")}${
        pane(page, right, t("Right: solution {label}", { label: right }), "right-")}</div>
      <div class="verdict" role="group" aria-labelledby="compare-title">
        ${verdict(page, left, "left")}
        <button type="button" class="btn" data-verdict="equal">${key("=")}${t("Equally good")}</button>
        ${verdict(page, right, "right")}
      </div>
    </div>`, $("#main"));
  for (const one of $$(".pane")) {
    const [body, place] = [$(".body", one), places[one.dataset.pane] ?? 0];
    if (body.scrollTop === place) continue;
    leader = null;
    body.scrollTop = place;
  }
  $("[data-do=together]").ariaPressed = String(isTogether(page));
}

/** Whether a solution's badge is filled, as for ranked ones. */
const hasPlace = ({ question }, label) => label !== question.label || !question.isNew;

function head(page, left, right) {
  const { asked, most } = page.question;
  const all = asked + most;
  const values = { n: number(asked + 1), all: number(all) };
  const count = most > 1 ? t("Question {n} of at most {all}", values) : t("Question {n}, the last", values);
  const pip = (_, n) => html`<i class=${["", "now", "done"][Math.sign(asked - n) + 1]}></i>`;
  return html`
    <div class="compare-head">
      <div class="who">
        <h2 id="compare-title" tabindex="-1">${t("Which is better, {left} or {right}?", { left, right })}</h2>
        <span class="meta">${all > 1 ? count : ""}</span>
      </div>
      <div class="pane-switch" role="group" aria-label=${t("Solution shown")}>${[left, right].map((one) => html`
        <button type="button" class="btn" data-show=${one} aria-pressed=${page.shown === one}>${
          sign(one, hasPlace(page, one))}${hasPlace(page, one) ? t("Ranked") : t("New")}</button>`)}</div>
      ${all > 1 ? html`<span class="pips" aria-hidden="true">${Array.from({ length: all }, pip)}</span>` : nothing}
      <button type="button" class="btn quiet" data-do="together" aria-pressed="false" aria-keyshortcuts="S"
        ><span aria-hidden="true">⇅</span>${t("Scroll together")}</button>
      ${$("#statement") ? button("problem", short("¶", t("Problem")), { kind: "quiet", keys: "P" }) : nothing}
      ${button("back", short("↶", t("Back")), { kind: "quiet", keys: "Backspace", isOff: asked === 0 })}
      <button type="button" class="btn quiet icon" data-do="stop" aria-label=${t("Stop comparing")}
        aria-keyshortcuts="Escape">✕</button>
    </div>`;
}

function pane(page, label, name, prefix) {
  const { question, solutions } = page;
  const tied = label === question.other ? question.tied : [];
  const place = [
    hasPlace(page, label) ? t("in your ranking") : t("to be placed"),
    tied.length > 0 && t("tied with {others}", { others: tied.join(", ") }),
    solutions.size(label),
  ].filter(Boolean).join(" · ");
  return html`
    <section class=${classes("pane", page.shown === label && "is-shown")} data-pane=${label} aria-label=${name}>
      <header>${sign(label, hasPlace(page, label))}<b>${t("Solution {label}", { label })}</b><span class="meta">${
        place}</span></header>
      <div class="body" tabindex="0" role="region" aria-label=${t("Text of solution {label}", { label })}
        @scroll=${({ target }) => scrolled(page, target)}>${
        solutions.prose(label, prefix) ?? loading(page, label)}</div>
    </section>`;
}

/** The button for "better" on one side. */
function verdict(page, label, side) {
  const arrow = key(side === "left" ? "←" : "→");
  const name = html`${sign(label, hasPlace(page, label))}<span>${t("{label} is better", { label })}</span>`;
  return html`
    <button type="button" class="btn" data-verdict=${label === page.question.label ? "better" : "worse"}
      data-side=${side}>${side === "left" ? [arrow, name] : [name, arrow]}</button>`;
}

const bodies = () => $$(".pane .body");
const rangeOf = (body) => body.scrollHeight - body.clientHeight;

/** Whether panes scroll together: the judge's choice, else if both have similar lengths. */
export function isTogether({ together }) {
  const [one, other] = bodies().map((body) => body.scrollHeight);
  return together ?? Math.max(one, other) < ALIKE * Math.min(one, other);
}

/** Scroll a pane to the same fraction as another. */
const follow = (body, other) => {
  body.scrollTop = (other.scrollTop / Math.max(1, rangeOf(other))) * rangeOf(body);
};

/** Make the scrolled pane the leader. */
function scrolled(page, body) {
  if (leader === body && isTogether(page)) follow(bodies().find((other) => other !== body), body);
}

/** Scroll the panes by key: each, or the longer one with the other following. */
export function scrollPanes(page, pressed) {
  const shown = bodies().filter((body) => body.clientHeight);
  const screen = Math.min(...shown.map((body) => body.clientHeight)) * 0.9;
  const by = { ArrowUp: -STEP, ArrowDown: STEP, PageUp: -screen, PageDown: screen }[pressed];
  if (shown.length > 1 && isTogether(page)) {
    const [longer, other] = shown.toSorted((a, b) => rangeOf(b) - rangeOf(a));
    longer.scrollTop += by;
    follow(other, longer);
  } else for (const body of shown) body.scrollTop += by;
}
