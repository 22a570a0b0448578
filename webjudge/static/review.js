// The review of the order before submission, and the receipt after it.

import { $, $$, h } from "./dom.js";
import { gradeText } from "./grading.js";
import { position } from "./model.js";
import { button, more, noun, reasonText, sign } from "./parts.js";
import { stillToAnswer, taskQuestions } from "./questions.js";
import { drawSheet } from "./reader.js";
import { html, nothing } from "./vendor/lit-html.js";
import { dateTime, listed, number, t } from "./words.js";

/** A solution in the order; a button that opens it. */
const one = (page, label, text) => html`
  <button type="button" class="open-it" data-open=${label}><span class="unseen">${noun(page)} </span>${
    sign(label)}${text ? html`<span class="snippet" dir="auto">${text}</span>` : nothing}</button>`;

function row(page, group, index) {
  const { state: { ranked, comments }, solutions } = page;
  if (page.isGrading) {
    const name = html`<b dir="auto">${gradeText(page, group[0])}</b>`;
    return html`<li class="of-grade">${name}${group.map((label) => one(page, label, ""))}</li>`;
  }
  const isTie = group.length > 1;
  const above = ranked[index - 1]?.[0];
  return html`
    <li>
      <span class="position">${number(position(ranked, index))}${isTie ? "=" : ""}</span>
      ${group.map((label) => one(page, label, isTie ? "" : comments[label] || solutions.about(label).snippet))}
      ${isTie ? html`<span class="muted">${t("tied")}</span>` : nothing}
      ${page.canRank && above ? compare(above, group[0]) : nothing}
      ${page.canRank && !isTie ? more(page, group[0], "btn quiet icon") : nothing}
    </li>`;
}

const compare = (above, below) => html`
  <button type="button" class="btn quiet compare-row" data-pair="${above} ${below}"
    aria-label=${t("Compare {one} and {other}", { one: above, other: below })}>${t("Compare")}</button>`;

/** Show the whole order, for submission or as submitted. */
export function drawReview(page) {
  const { state, canRank, receipt, saver, isGrading } = page;
  const cannot = Object.entries(state.cannot).map(([label, reason]) => `${label} (${reasonText(reason)})`);
  const unopened = state.ranked.flat().filter((label) => !page.opened.has(label)).sort();
  const own = isGrading ? t("Your grades") : t("Your ranking");
  const send = isGrading ? t("Submit grades") : t("Submit ranking");
  const content = html`
    <div>
      ${saver.isSubmitting && saver.failures > 0 ? html`
        <p class="note">${t("Not submitted yet. It will be submitted when the server answers again.")}</p>` : nothing}
      <p class="muted">${note(page)}</p>
      ${page.submitted && receipt ? html`
        <p class="submitted">${t("You submitted this ranking:")} ${
          dateTime(new Date(receipt.at))} · ${t("receipt")} <code>${receipt.code}</code></p>` : nothing}
      ${canRank && unopened.length ? html`
        <p class="note">${t("You have not opened {labels}.", { labels: listed(unopened) })}</p>` : nothing}
      <ol class="final">${state.ranked.map((group, index) => row(page, group, index))}</ol>
      ${cannot.length ? html`
        <p class="muted">${t("Cannot judge: {solutions}", { solutions: cannot.join(", ") })}</p>` : nothing}
      ${taskQuestions(page)}
      ${canRank ? html`
        <label class="field" for="group-comment">${t("Comment on this task")} <span class="muted">${
          t("(optional)")}</span></label>
        <textarea id="group-comment" rows="3" maxlength="4000" data-field="comment" .value=${state.comment}></textarea>`
        : html`<p class="prose" ?hidden=${!state.comment}>${state.comment}</p>`}
      <div class="missing">${canRank && !state.tray.length ? stillToAnswer(page) : nothing}</div>
      <div class="actions">
        ${canRank ? button("send", send, { kind: "primary big" }) : nothing}
        ${page.canReopen ? button("reopen", isGrading ? t("Reopen") : t("Reopen ranking")) : nothing}
      </div>
    </div>`;
  drawSheet({ title: canRank && !state.tray.length ? isThisIt(page) : own, content, kind: "review" });
}

function note({ isGrading, canRank, canReopen }) {
  if (isGrading) {
    return canRank || canReopen
      ? t("To change a grade, open the candidate. You can reopen what you submitted until the study closes.")
      : "";
  }
  if (canRank) {
    return t("Best at the top. To change the order, drag in the list, compare two, or use the “…” menus. "
      + "You can reopen a submitted ranking until the study closes.");
  }
  return canReopen ? t("You can reopen this ranking until the study closes.") : t("Best at the top.");
}

/** Questions before submission. */
export const isThisIt = ({ isGrading }) => (
  isGrading ? t("All graded. Are these your grades?") : t("All ranked. Is this your order?")
);

/** The order in one line, best first. */
export function orderText(page) {
  const { ranked } = page.state;
  return page.isGrading
    ? ranked.map((group) => `${gradeText(page, group[0])}: ${group.join(", ")}`).join("; ")
    : ranked.map((group) => group.join(" = ")).join(" > ");
}

/** The confirmation of a submitted ranking, with its receipt. */
export function showReceipt(page, { receipt: code, saved_at: at, next }) {
  const { data, state } = page;
  const rows = [
    [t("Study"), data.study],
    [t("Task"), data.step ? `${data.step}: ${data.title}` : data.title],
    [page.isGrading ? t("Your grades") : t("Your order"), orderText(page)],
    [t("Cannot judge"), Object.keys(state.cannot).join(", ") || t("none")],
    [t("Submitted"), dateTime(new Date(at))],
    ...(code ? [[t("Receipt"), code]] : []),
  ];
  const dialog = $("#receipt");
  $("dl", dialog).replaceChildren(...rows.flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]));
  const file = $("a[download]", dialog);
  const text = rows.map((pair) => `${pair.join(": ")}\n`).join("");
  file.href = `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`;
  file.hidden = !code;
  $(".next", dialog).href = next;
  $(".next", dialog).textContent = next.split("?")[0].endsWith("/done") ? t("Finish") : t("Next task");
  for (const other of $$("dialog[open]")) other.close();
  dialog.showModal();
}
