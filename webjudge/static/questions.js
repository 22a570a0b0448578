// The study's own questions: on a solution at the end of its text, on a place in the message after
// it was found and in the menu, on the task in the review.

import { $, h, letter } from "./dom.js";
import { replyOf } from "./model.js";
import { t } from "./words.js";

const LONGEST = 4000;

/** How sure one can be of a place. */
export const LEVELS = [["unsure", t("Unsure")], ["fairly", t("Fairly")], ["sure", t("Sure")]];

const about = ({ data }, what) => data.questions.filter((question) => question.about === what);

/** Required questions that are not answered: {question, label}, of the task with an empty label. */
export function unanswered(app) {
  const { state } = app;
  return app.data.questions.filter(({ required }) => required).flatMap((question) => {
    const labels = question.about === "task" ? [""] : state.ranked.flat();
    const given = (label) => (question.about === "placement" ? state.sure[label] : replyOf(state, question, label));
    return labels.filter((label) => !given(label)).map((label) => ({ question, label }));
  });
}

/** What a question asks, and whether it needs an answer. */
const asked = ({ text, required, kind }) => [
  text, kind !== "flag" && h("span.muted", {}, ` ${required ? t("(required)") : t("(optional)")}`),
];

/** The control of a question; `data-question` says whose answer it holds. */
function control(app, question, label) {
  const { id, kind, options, ends, required } = question;
  const value = replyOf(app.state, question, label);
  const key = `question-${app.data.questions.indexOf(question)}-${label}`;
  const common = { "data-question": id, "data-label": label, disabled: !app.canRank };
  if (kind === "text") {
    const area = h("textarea", { id: key, rows: "2", maxlength: String(LONGEST), ...common });
    area.value = value;
    return h("div.question", {}, h("label.field", { for: key, dir: "auto" }, asked(question)), area);
  }
  if (kind === "flag") {
    const box = h("input", { type: "checkbox", id: key, value: "yes", ...common });
    box.checked = value === "yes";
    return h("label.pick.question", { dir: "auto" }, box, " ", asked(question));
  }
  const choices = [...options.map((option) => [option, option]), ...(required ? [] : [["", t("No answer")]])];
  const [low, high] = ends;
  return h(
    `fieldset.question${kind === "scale" ? ".is-scale" : ""}`, {},
    h("legend.field", { dir: "auto" }, asked(question)),
    low && h("span.muted", { dir: "auto" }, low),
    choices.map(([option, text], index) => {
      const radio = h("input", { type: "radio", name: key, id: `${key}-${index}`, value: option, ...common });
      radio.checked = option === value;
      const meaning = { 0: low, [options.length - 1]: high }[index];
      if (meaning) radio.setAttribute("aria-label", `${text}: ${meaning}`);
      const end = index === options.length - 1 && high && h("span.muted", { dir: "auto" }, high);
      return [h("label.pick", { dir: "auto" }, radio, " ", text), end];
    }),
  );
}

/** Questions on a solution, to stand below its text; null where there are none. */
export function solutionQuestions(app, label) {
  const questions = about(app, "solution");
  return questions.length > 0 && h(
    "section.questions", { "aria-label": t("Questions on solution {label}", { label }), tabindex: "-1" },
    h("h3", {}, t("Questions on solution {label}", { label })),
    questions.map((question) => control(app, question, label)),
  );
}

export const taskQuestions = (app) => about(app, "task").map((question) => control(app, question, ""));

/** Go to the questions on a solution, whose text is shown. */
export const goToQuestions = () => {
  const section = $("#reader .questions");
  section?.scrollIntoView();
  section?.focus({ preventScroll: true });
};

/** Buttons that say how sure one is of a place. */
export const levels = (app, label) => h(
  "span.levels", { role: "group", "aria-label": t("How sure are you of its place?") },
  LEVELS.map(([level, text]) => h("button", {
    type: "button", "data-sure": level, "data-label": label, "aria-pressed": String(app.state.sure[label] === level),
  }, text)),
);

/** Asks how sure one is of a place just found, where the study wants to know. */
export const askSure = (app, label) => about(app, "placement").length > 0
  && h("span.ask-sure", {}, t("How sure are you of its place?"), " ", levels(app, label));

/** Show in the review what has to be answered yet; nothing else is drawn, so that one can type on. */
export function drawMissing(app) {
  const isAsked = app.canRank && !app.state.tray.length;
  $(".review .missing")?.replaceChildren(...[isAsked && stillToAnswer(app)].filter(Boolean));
}

function stillToAnswer(app) {
  const missing = unanswered(app);
  const questions = app.data.questions.filter((one) => missing.some(({ question }) => question === one));
  return missing.length > 0 && h(
    "section.to-answer", { "aria-labelledby": "to-answer-title" },
    h("h3", { id: "to-answer-title", tabindex: "-1" }, t("Still to answer before you submit")),
    questions.map((question) => {
      const labels = missing.filter((one) => one.question === question).map(({ label }) => label);
      if (question.about === "placement") {
        return labels.map((label) => h(
          "p", {}, letter(label), " ", t("How sure are you of its place?"), " ", levels(app, label),
        ));
      }
      if (question.about === "task") return h("p", { dir: "auto" }, question.text);
      return h("p", { dir: "auto" }, question.text, " ", labels.map((label) => h("button.btn.quiet", {
        type: "button", "data-answer": label, "aria-label": t("Questions on solution {label}", { label }),
      }, label)));
    }),
  );
}
