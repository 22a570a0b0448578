// The ranking, always in sight: a row for each place, ties on one row; below it what is not ranked yet.

import { $, $$, h, letter, reasonText, sign } from "./dom.js";
import { gradeRows, gradeText, isGrading } from "./grading.js";
import { answerOf, place, position, whereabouts } from "./model.js";
import { number, t, tn } from "./words.js";

const DENSE_FROM = 11;

const SURE = {
  unsure: t("unsure of its place"), fairly: t("fairly sure of its place"), sure: t("sure of its place"),
};

/** A solution in the ladder: a grip, its letter and how it begins, and its menu. */
function chip(app, label) {
  const { state } = app;
  const { snippet } = app.solutions.about(label);
  const isRanked = whereabouts(state, label).area === "ranked";
  const isCurrent = app.current === label;
  const comment = answerOf(state, "comments", label);
  const isRecognized = answerOf(state, "recognized", label);
  const marks = [comment && "✎", isRecognized && "◉", state.sure[label] === "unsure" && "?"].filter(Boolean);
  const grades = isGrading(app);
  const isPlaced = isRanked || label in state.cannot;
  const spoken = [
    grades && (isRanked || !isPlaced) ? gradeText(app, label) : place(state, label),
    reasonText(state.cannot[label]),
    comment && t("has comment"),
    isRecognized && t("author recognized"),
    SURE[state.sure[label]],
  ].filter(Boolean).join(", ");
  const tabindex = app.tabStop === label ? "0" : "-1";
  return h(
    `div.chip${isCurrent ? ".is-current" : ""}`,
    { "data-label": label },
    app.canRank && h("span.grip", { "aria-hidden": "true" }, "⠿"),
    h(
      "button.open-it",
      { type: "button", "data-open": label, tabindex, "aria-current": isCurrent ? "true" : null },
      h("span.unseen", {}, grades ? t("Candidate") : t("Solution"), " "),
      letter(label, isRanked),
      h("span.snippet", { dir: "auto" }, comment || snippet),
      !isRanked && h("span.size", {}, app.solutions.shortSize(label)),
      h("span.unseen", {}, `, ${spoken}`),
      marks.length > 0 && h("span.marks", { "aria-hidden": "true" }, marks.join(" ")),
    ),
    app.canRank && h("button.more", {
      type: "button",
      "data-more": label,
      tabindex,
      "aria-haspopup": "menu",
      "aria-label": grades
        ? t("Candidate {label}: more actions", { label })
        : t("Solution {label}: more actions", { label }),
    }, "…"),
  );
}

/** A place: its number, and the solutions that share it. */
function rung(app, group, index, search) {
  const isTie = group.length > 1;
  const marks = search ? [
    index >= search.lo && index < search.hi && "is-range", index === app.pivot && "is-pivot",
  ].filter(Boolean) : [];
  const shown = position(search ? search.groups : app.state.ranked, index);
  return h(
    ["li", "rung", isTie && "is-tie", ...marks].filter(Boolean).join("."),
    { "data-group": index },
    h("span.position", { "aria-hidden": "true" }, `${number(shown)}${isTie ? "=" : ""}`),
    h("div.chips", {}, group.map((label) => chip(app, label))),
  );
}

/** Which row has the ladder's one tab stop. */
function tabStop(app) {
  const { state } = app;
  const all = [...state.ranked.flat(), ...state.tray, ...Object.keys(state.cannot)];
  return all.includes(app.current) ? app.current : all[0];
}

/** Draw the ladder, and the line that stands for it on a phone. */
export function drawLadder(app) {
  const { state, search } = app;
  const cannot = Object.keys(state.cannot);
  const [placed, waiting] = [state.ranked.flat().length, state.tray.length];
  app.tabStop = tabStop(app);
  const ladder = $("#ladder");
  ladder.classList.toggle("is-dense", app.data.labels.length >= DENSE_FROM);
  const groups = search ? search.groups : state.ranked;
  const rows = isGrading(app)
    ? gradeRows(app, (label) => chip(app, label))
    : groups.map((group, index) => rung(app, group, index, search));
  const hint = h("li.empty", {}, t("Nothing here yet. Read the first solution and place it."));
  const one = (label) => h("li.waiting", {}, chip(app, label));
  $("#ranked").replaceChildren(...(rows.length ? rows : [hint]));
  $("#tray").replaceChildren(...state.tray.map(one));
  $("#cannot").replaceChildren(...cannot.map(one));
  for (const part of $$("#ranked, #tray, #cannot")) part.inert = Boolean(app.isComparing);
  $("#tray-part").hidden = !waiting;
  $("#cannot-part").hidden = !cannot.length;
  const all = number(app.data.labels.length);
  $("#ranked-count").textContent = placed ? t("{n} of {all}", { n: number(placed), all }) : "";
  $("#tray-count").textContent = number(waiting);
  $("#cannot-count").textContent = number(cannot.length);
  const row = $("#problem-row");
  if (row) {
    if (app.view === "problem") row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  }
  drawFoot(app, waiting);
  drawStrip(app, placed, waiting);
}

function drawFoot(app, waiting) {
  $("#left").textContent = leftText(app, waiting);
  const submit = $("#ladder [data-do=submit]");
  submit.hidden = !app.canRank;
  submit.classList.toggle("primary", app.canRank && !waiting && app.view !== "review");
  for (const reopen of $$("[data-do=reopen]", $("#ladder"))) reopen.hidden = !app.canReopen;
}

function leftText(app, waiting) {
  if (app.submitted) return isGrading(app) ? t("Submitted") : t("This ranking is submitted.");
  if (app.data.closed) return t("The study is closed.");
  if (app.data.paused) return t("The study is paused.");
  const grades = isGrading(app);
  if (waiting && grades) return tn("1 candidate left to grade", "{n} candidates left to grade", waiting);
  if (waiting) return tn("1 solution left to rank", "{n} solutions left to rank", waiting);
  if (app.isWithdrawn) return t("Changed since you submitted. Submit again.");
  return grades ? t("All candidates are graded.") : t("All solutions are ranked.");
}

/** The line of a phone: how many, and the order. */
function drawStrip(app, placed, waiting) {
  const { state, current } = app;
  const counts = { placed: number(placed), waiting: number(waiting) };
  const grades = isGrading(app);
  if (!waiting) $("#strip-count").textContent = grades ? t("All graded") : t("All ranked");
  else if (grades) $("#strip-count").textContent = t("{placed} graded, {waiting} to go", counts);
  else $("#strip-count").textContent = t("{placed} ranked, {waiting} to go", counts);
  $("#strip-order").textContent = state.ranked.map((group) => group.join(" = ")).join(" › ") || t("Nothing here yet");
  const next = $("#place-now");
  next.hidden = !app.canRank;
  if (!waiting) next.textContent = t("Review");
  else if (!grades && current && app.view === "reader" && whereabouts(state, current).area !== "ranked") {
    next.textContent = t("Place {label}", { label: current });
  } else next.textContent = t("Next");
}

/** Open or close the sheet that the ladder is on a phone. */
export function openSheet(isOpen) {
  const ladder = $("#ladder");
  if (ladder.classList.contains("is-open") === isOpen) return;
  ladder.classList.toggle("is-open", isOpen);
  const toggle = $("#sheet-toggle");
  toggle.setAttribute("aria-expanded", String(isOpen));
  $(".arrow", toggle).replaceWith(Object.assign(sign(isOpen ? "▾" : "▴"), { className: "arrow" }));
  if (isOpen) $("#ladder .open-it[tabindex='0']")?.focus();
}

/** Go from row to row; each row has its menu beside it. */
export function rowBeside(row, by) {
  const rows = $$("#ladder .open-it");
  const next = rows[rows.indexOf(row) + by];
  if (!next) return;
  for (const other of $$("#ladder .open-it, #ladder .more")) other.tabIndex = -1;
  for (const control of $$(".open-it, .more", next.closest(".chip"))) control.tabIndex = 0;
  next.focus();
}
