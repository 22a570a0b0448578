// Grades: the judge says of each candidate how relevant it is, which puts it on the place of its grade.

import { h } from "./dom.js";
import { gradeOf } from "./model.js";
import { number, t } from "./words.js";

/** Whether judges grade here, and do not rank. */
export const isGrading = ({ data }) => data.grades.length > 0;

/** All grades, the highest first: {grade, text}. */
export const scale = ({ data }) => data.grades.map((text, grade) => ({ grade: String(grade), text })).reverse();

/** What the grade of a candidate is called. */
export const gradeText = ({ data, state }, label) => data.grades[gradeOf(state, label)] ?? t("not graded yet");

/** The buttons below a candidate, one for each grade. */
export function gradingBar(app, label) {
  const now = gradeOf(app.state, label);
  const one = (text, grade) => h(
    "button.btn",
    {
      type: "button",
      "data-grade": String(grade),
      "aria-pressed": String(now === String(grade)),
      "aria-keyshortcuts": String(grade),
    },
    h("kbd", { "aria-hidden": "true" }, String(grade)),
    h("span", { dir: "auto" }, text),
  );
  return h(
    "div.grading", { role: "group", "aria-labelledby": "grading-title" },
    h("span", { id: "grading-title" }, t("How relevant is {label}?", { label })),
    h("div.grade-buttons", {}, app.data.grades.map(one)),
  );
}

/** The rows of the list: a grade each, with what has it. */
export const gradeRows = (app, chip) => scale(app).map(({ grade, text }) => {
  const group = app.state.ranked.find(([first]) => gradeOf(app.state, first) === grade) ?? [];
  return h(
    "li.rung.grade", { "data-drop": grade },
    h("div.grade-name", {}, h("span", { dir: "auto" }, text), h("span.count", {}, number(group.length))),
    h("div.chips", {}, group.map(chip)),
  );
});
