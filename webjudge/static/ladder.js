// The ranking, always visible: one row per place, ties on one row; unranked solutions below.

import { $, $$ } from "./dom.js";
import { gradeRows, gradeText } from "./grading.js";
import { answerOf, place, position } from "./model.js";
import { classes, more, noun, put, reasonText, sign } from "./parts.js";
import { html, nothing } from "./vendor/lit-html.js";
import { number, t, tn } from "./words.js";

const DENSE_FROM = 11;

const SURE = {
  unsure: t("unsure of its place"), fairly: t("fairly sure of its place"), sure: t("sure of its place"),
};

/** A solution in the ladder: grip, letter, beginning of the text, and menu. */
function chip(page, label) {
  const { state, current, placed, canRank, solutions } = page;
  const isRanked = page.isRanked(label);
  const comment = answerOf(state, "comments", label);
  const isRecognized = answerOf(state, "recognized", label);
  const marks = [comment && "✎", isRecognized && "◉", state.sure[label] === "unsure" && "?"].filter(Boolean);
  const spoken = [
    page.isGrading && !(label in state.cannot) ? gradeText(page, label) : place(state, label),
    reasonText(state.cannot[label]),
    comment && t("has comment"),
    isRecognized && t("author recognized"),
    SURE[state.sure[label]],
  ].filter(Boolean).join(", ");
  const tabindex = tabStop(page) === label ? "0" : "-1";
  return html`
    <div class=${classes("chip", current === label && "is-current", placed === label && "is-placed")}
      data-label=${label}>
      ${canRank ? html`<span class="grip" aria-hidden="true">⠿</span>` : nothing}
      <button type="button" class="open-it" data-open=${label} tabindex=${tabindex}
        aria-current=${current === label ? "true" : nothing}><span class="unseen">${noun(page)} </span>${
        sign(label, isRanked)}<span class="snippet" dir="auto">${comment || solutions.about(label).snippet}</span>${
        isRanked ? nothing : html`<span class="size">${solutions.shortSize(label)}</span>`}<span class="unseen">, ${
        spoken}</span>${marks.length ? html`<span class="marks" aria-hidden="true">${marks.join(" ")}</span>` : nothing
      }</button>
      ${canRank ? more(page, label, "more", tabindex) : nothing}
    </div>`;
}

/** The row with the ladder's single tab stop (roving tabindex). */
function tabStop({ state, row, current }) {
  const all = [...state.ranked.flat(), ...state.tray, ...Object.keys(state.cannot)];
  return [row, current].find((label) => all.includes(label)) ?? all[0];
}

/** A place: its number, and its tied solutions. */
function rung(page, group, index) {
  const { search, state } = page;
  const isTie = group.length > 1;
  const isInRange = search && index >= search.lo && index < search.hi;
  const isAsked = search && group[0] === page.question.other;
  const shown = `${number(position(search ? search.groups : state.ranked, index))}${isTie ? "=" : ""}`;
  return html`
    <li class=${classes("rung", isTie && "is-tie", isInRange && "is-range", isAsked && "is-pivot")} data-group=${index}>
      <span class="position" aria-hidden="true">${shown}</span>
      <div class="chips">${group.map((label) => chip(page, label))}</div>
    </li>`;
}

const write = (selector, text) => { $(selector).textContent = text; };

/** Draw the ladder, and its summary line on a phone. */
export function drawLadder(page) {
  const { state, search, data, isSheetOpen } = page;
  const cannot = Object.keys(state.cannot);
  const [placed, waiting] = [state.ranked.flat().length, state.tray.length];
  const groups = search ? search.groups : state.ranked;
  const rows = page.isGrading ? gradeRows(page, chip) : groups.map((group, index) => rung(page, group, index));
  const hint = html`<li class="empty">${t("Nothing here yet. Read the first solution and place it.")}</li>`;
  const one = (label) => html`<li class="waiting">${chip(page, label)}</li>`;
  put(rows.length ? rows : hint, $("#ranked"));
  put(state.tray.map(one), $("#tray"));
  put(cannot.map(one), $("#cannot"));
  for (const part of $$("#ranked, #tray, #cannot")) part.inert = page.isComparing;
  $("#tray-part").hidden = !waiting && !document.body.matches(".is-dragging");
  $("#cannot-part").hidden = !cannot.length;
  write("#ranked-count", placed ? t("{n} of {all}", { n: number(placed), all: number(placed + waiting) }) : "");
  write("#tray-count", number(waiting));
  write("#cannot-count", number(cannot.length));
  const problem = $("#problem-row");
  if (problem) problem.ariaCurrent = page.view === "problem" ? "true" : null;
  $("#ladder").classList.toggle("is-dense", data.labels.length >= DENSE_FROM);
  $("#ladder").classList.toggle("is-open", isSheetOpen);
  $("#sheet-toggle").ariaExpanded = String(isSheetOpen);
  write("#sheet-toggle .arrow", isSheetOpen ? "▾" : "▴");
  write("#left", leftText(page, waiting));
  const submit = $("#ladder [data-do=submit]");
  submit.hidden = !page.canRank;
  submit.classList.toggle("primary", page.canRank && !waiting && page.view !== "review");
  drawStrip(page, placed, waiting);
}

function leftText({ isGrading, submitted, data, saver }, waiting) {
  if (submitted) return isGrading ? t("Submitted") : t("This ranking is submitted.");
  if (data.closed) return t("The study is closed.");
  if (data.paused) return t("The study is paused.");
  if (waiting && isGrading) return tn("1 candidate left to grade", "{n} candidates left to grade", waiting);
  if (waiting) return tn("1 solution left to rank", "{n} solutions left to rank", waiting);
  if (saver.submissionWithdrawn) {
    return t("Changed since you submitted. Submit again; until then, what you submitted counts.");
  }
  return isGrading ? t("All candidates are graded.") : t("All solutions are ranked.");
}

/** The summary line on a phone: count and order. */
function drawStrip(page, placed, waiting) {
  const { state, current: label, isGrading } = page;
  const n = { placed: number(placed), waiting: number(waiting) };
  const all = isGrading ? t("All graded") : t("All ranked");
  const some = isGrading ? t("{placed} graded, {waiting} to go", n) : t("{placed} ranked, {waiting} to go", n);
  const places = page.view === "reader" && !isGrading && !page.isRanked(label);
  write("#strip-count", waiting ? some : all);
  write("#strip-order", state.ranked.map((group) => group.join(" = ")).join(" › ") || t("Nothing here yet"));
  write("#place-now", (!waiting && t("Review")) || (places && t("Place {label}", { label })) || t("Next"));
  $("#place-now").hidden = !page.canRank;
}
