// The study's questions: about a solution at the end of its text, about a placement in the message after
// it and in the menu, about the task in the review.

import { $ } from "./dom.js";
import { replyOf } from "./model.js";
import { classes, sign } from "./parts.js";
import { html, nothing } from "./vendor/lit-html.js";
import { t } from "./words.js";

const LONGEST = 4000;

export const LEVELS = [["unsure", t("Unsure")], ["fairly", t("Fairly")], ["sure", t("Sure")]];

const about = ({ data }, what) => data.questions.filter((question) => question.about === what);

/** Unanswered required questions: {question, label}, with an empty label for the task. */
export function unanswered({ data, state }) {
  return data.questions.filter(({ required }) => required).flatMap((question) => {
    const labels = question.about === "task" ? [""] : state.ranked.flat();
    const given = (label) => (question.about === "placement" ? state.sure[label] : replyOf(state, question, label));
    return labels.filter((label) => !given(label)).map((label) => ({ question, label }));
  });
}

/** A question's text, and whether it is required. */
const asked = ({ text, required }) => html`${text}<span class="muted"> ${
  required ? t("(required)") : t("(optional)")}</span>`;

/** A question's control, identified by `data-question`. */
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
  // Set `checked` before the name: under the old name it would clear another group's choice.
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

/** Questions about a solution, for the end of its text. */
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

/** The question about confidence in a placement. */
const sureness = ({ state }, label) => html`${t("How sure are you of its place?")}
  <span class="levels" role="group" aria-label=${t("How sure are you of its place?")}>${
    LEVELS.map(([level, text]) => html`<button type="button" data-sure=${level} data-label=${label}
      aria-pressed=${state.sure[label] === level}>${text}</button>`)}</span>`;

/** The same for the last placement, if the study asks. */
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
