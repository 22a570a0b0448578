// The study's own questions: on a solution at the end of its text, on a place in the message after
// it was found and in the menu, on the task in the review.

import { $ } from "./dom.js";
import { replyOf } from "./model.js";
import { classes, sign } from "./parts.js";
import { html, nothing } from "./vendor/lit-html.js";
import { t } from "./words.js";

const LONGEST = 4000;

export const LEVELS = [["unsure", t("Unsure")], ["fairly", t("Fairly")], ["sure", t("Sure")]];

const about = ({ data }, what) => data.questions.filter((question) => question.about === what);

/** Required questions that are not answered: {question, label}, of the task with an empty label. */
export function unanswered({ data, state }) {
  return data.questions.filter(({ required }) => required).flatMap((question) => {
    const labels = question.about === "task" ? [""] : state.ranked.flat();
    const given = (label) => (question.about === "placement" ? state.sure[label] : replyOf(state, question, label));
    return labels.filter((label) => !given(label)).map((label) => ({ question, label }));
  });
}

/** What a question asks, and whether it needs an answer. */
const asked = ({ text, required }) => html`${text}<span class="muted"> ${
  required ? t("(required)") : t("(optional)")}</span>`;

/** The control of a question; `data-question` says whose answer it holds. */
function control(page, question, label) {
  const { id, kind, text } = question;
  const value = replyOf(page.state, question, label);
  const key = `question-${page.data.questions.indexOf(question)}-${label}`;
  if (kind === "text") {
    return html`
      <div class="question">
        <label class="field" for=${key} dir="auto">${asked(question)}</label>
        <textarea id=${key} rows="2" maxlength=${LONGEST} data-question=${id} data-label=${label}
          ?disabled=${!page.canRank} .value=${value}></textarea>
      </div>`;
  }
  // What is chosen is set before the name: in a group of its old name it could not undo another choice.
  const choice = (option, n, type, meaning) => html`
    <input type=${type} .checked=${option === value} name=${key} id="${key}${n}" value=${option} data-question=${id}
      data-label=${label} ?disabled=${!page.canRank} aria-label=${meaning ? `${option}: ${meaning}` : nothing}>`;
  if (kind === "flag") {
    return html`<label class="pick question" dir="auto">${choice("yes", "", "checkbox")} ${text}</label>`;
  }
  const { options, ends: [low, high], required } = question;
  const last = options.length - 1;
  const end = (meaning) => (meaning ? html`<span class="muted" dir="auto">${meaning}</span>` : nothing);
  return html`
    <fieldset class=${classes("question", kind === "scale" && "is-scale")}>
      <legend class="field" dir="auto">${asked(question)}</legend>${end(low)}
      ${[...options, ...(required ? [] : [""])].map((option, n) => html`
        <label class="pick" dir="auto">${choice(option, `-${n}`, "radio", { 0: low, [last]: high }[n])} ${
          n > last ? t("No answer") : option}</label>${n === last ? end(high) : nothing}`)}
    </fieldset>`;
}

/** Questions on a solution, to stand below its text. */
export function solutionQuestions(page, label) {
  const questions = about(page, "solution");
  const title = t("Questions on solution {label}", { label });
  return questions.length ? html`
    <section class="questions" aria-label=${title} tabindex="-1">
      <h3>${title}</h3>${questions.map((question) => control(page, question, label))}
    </section>` : nothing;
}

export const taskQuestions = (page) => about(page, "task").map((question) => control(page, question, ""));

export const goToQuestions = () => {
  const section = $("#reader .questions");
  section?.scrollIntoView();
  section?.focus({ preventScroll: true });
};

/** Asks how sure one is of a place. */
const sureness = ({ state }, label) => html`${t("How sure are you of its place?")}
  <span class="levels" role="group" aria-label=${t("How sure are you of its place?")}>${
    LEVELS.map(([level, text]) => html`<button type="button" data-sure=${level} data-label=${label}
      aria-pressed=${state.sure[label] === level}>${text}</button>`)}</span>`;

/** The same of a place just found, where the study wants to know. */
export const askSure = (page, label) => (about(page, "placement").length
  ? html`<span class="ask-sure">${sureness(page, label)}</span>` : nothing);

export function stillToAnswer(page) {
  const missing = unanswered(page);
  const row = (question) => {
    const labels = missing.filter((one) => one.question === question).map(({ label }) => label);
    if (question.about === "placement") {
      return labels.map((label) => html`<p>${sign(label)} ${sureness(page, label)}</p>`);
    }
    const open = (label) => html`<button type="button" class="btn quiet" data-answer=${label}
      aria-label=${t("Questions on solution {label}", { label })}>${label}</button>`;
    return html`<p dir="auto">${question.text} ${question.about === "task" ? nothing : labels.map(open)}</p>`;
  };
  return missing.length ? html`
    <section class="to-answer" aria-labelledby="to-answer-title">
      <h3 id="to-answer-title" tabindex="-1">${t("Still to answer before you submit")}</h3>
      ${[...new Set(missing.map(({ question }) => question))].map(row)}
    </section>` : nothing;
}
