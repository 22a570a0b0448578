// Relevance judgments: grade buttons below the candidate, and the list with one row per grade.

import { gradeOf } from "./model.js";
import { key } from "./parts.js";
import { html } from "./vendor/lit-html.js";
import { number, t } from "./words.js";

/** All grades, the highest first: {grade, text}. */
export const scale = ({ data }) => data.grades.map((text, grade) => ({ grade: String(grade), text })).reverse();

export const gradeText = ({ data, state }, label) => data.grades[gradeOf(state, label)] ?? t("not graded yet");

/** The grade buttons below a candidate. */
export const gradingBar = ({ data, state }, label) => html`
  <div class="grading" role="group" aria-labelledby="grading-title">
    <span id="grading-title">${t("How relevant is {label}?", { label })}</span>
    <div class="grade-buttons">${data.grades.map((text, grade) => html`
      <button type="button" class="btn" data-grade=${grade} aria-keyshortcuts=${grade}
        aria-pressed=${gradeOf(state, label) === String(grade)}>${key(grade)}<span dir="auto">${text}</span></button>`)}
    </div>
  </div>`;

/** The rows of the list: one per grade, with its candidates. */
export const gradeRows = (page, chip) => scale(page).map(({ grade, text }) => {
  const group = page.state.ranked.find(([first]) => gradeOf(page.state, first) === grade) ?? [];
  return html`
    <li class="rung grade" data-drop=${grade}><div class="grade-name"><span dir="auto">${
      text}</span><span class="count">${number(group.length)}</span></div><div class="chips">${
      group.map((label) => chip(page, label))}</div></li>`;
});
