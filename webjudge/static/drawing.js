// Draws a state: moves the cards, which the server made, to where the model has them.

import { answerOf, place, whereabouts } from "./model.js";

const plural = (n) => (n === 1 ? "1 solution" : `${n} solutions`);

/**
 * @param {HTMLElement} page
 * @param {import("./history.js").History} history
 * @param {string[]} labels
 * @param {{readOnly: boolean, submitted: boolean, closed: boolean, submissionWithdrawn: boolean}} mode
 */
export function draw(page, history, labels, mode) {
  const { state } = history;
  fill(page.querySelector("#tray"), state.tray);
  fill(page.querySelector("#ranked"), state.ranked.flat());
  fill(page.querySelector("#cannot"), Object.keys(state.cannot));
  for (const label of labels) drawCard(page, state, label, mode);
  for (const control of page.querySelectorAll("[data-field]")) drawControl(control, state, mode);
  drawPage(page, history, mode);
}

/** Put cards into a list in this order; one that is in place already keeps its focus. */
function fill(list, labels) {
  labels.forEach((label, at) => {
    const card = document.getElementById(`card-${label}`);
    if (list.children[at] !== card) list.insertBefore(card, list.children[at] ?? null);
  });
}

function drawCard(page, state, label, { readOnly }) {
  const card = page.querySelector(`#card-${label}`);
  const { area, group, tied } = whereabouts(state, label);
  card.dataset.area = area;
  card.classList.toggle("tied-above", tied.length > 0 && state.ranked[group][0] !== label);
  card.classList.toggle("tied-below", tied.length > 0 && state.ranked[group].at(-1) !== label);
  card.querySelector(".place").textContent = place(state, label);
  card.querySelector(".reason").textContent = state.cannot[label] ?? "";
  const can = {
    better: area === "ranked" && (tied.length > 0 || group > 0),
    worse: area === "ranked" && (tied.length > 0 || group < state.ranked.length - 1),
    tie: area === "ranked" && group > 0,
    untie: area === "ranked" && tied.length > 0,
  };
  for (const button of card.querySelectorAll("button[data-do]")) {
    const name = button.dataset.do;
    const [where, what] = [button.dataset.in ?? "", can[name] ?? true];
    button.hidden = (where !== "" && !where.split(" ").includes(area)) || (readOnly && name !== "compare");
    button.disabled = !what;
  }
  card.querySelector(".has-comment").hidden = !state.comments[label];
  card.querySelector(".handle").disabled = readOnly;
}

function drawPage(page, history, mode) {
  const { readOnly, submitted, closed } = mode;
  const { state } = history;
  const [waiting, placed] = [state.tray.length, state.ranked.flat().length];
  page.dataset.tray = waiting ? "some" : "empty";
  page.classList.toggle("is-read-only", readOnly);
  page.querySelector("#tray-count").textContent = waiting ? plural(waiting) : "all ranked";
  page.querySelector("#ranked-count").textContent = placed ? plural(placed) : "none";
  page.querySelector("#cannot-area").hidden = Object.keys(state.cannot).length === 0;
  page.querySelector("#left").textContent = leftText(waiting, mode);
  const show = (name, yes) => { page.querySelector(`button[data-do=${name}]`).hidden = !yes; };
  show("submit", !readOnly);
  show("reopen", submitted && !closed);
  page.querySelector("button[data-do=submit]").classList.toggle("is-ready", waiting === 0);
  page.querySelector("button[data-do=undo]").disabled = readOnly || !history.canUndo;
  page.querySelector("button[data-do=redo]").disabled = readOnly || !history.canRedo;
}

/** Show an answer in its control: a checkbox, a group of radio buttons, a menu, or a text. */
function drawControl(control, state, { readOnly }) {
  const value = answerOf(state, control.dataset.field, control.closest(".card")?.dataset.label);
  if (control.type === "checkbox") control.checked = value;
  else if (control.type === "radio") control.checked = control.value === value;
  // What is the same already stays untouched: the caret stays where somebody types.
  else if (control.value.trim() !== value.trim()) control.value = value;
  if (control.matches("textarea")) control.readOnly = readOnly;
  else control.disabled = readOnly;
}

function leftText(waiting, { submitted, closed, submissionWithdrawn }) {
  if (submitted) return "This ranking is submitted.";
  if (closed) return "The study is closed.";
  if (waiting) return `${plural(waiting)} left to rank`;
  return submissionWithdrawn ? "Changed since you submitted. Submit again." : "All solutions are ranked.";
}
