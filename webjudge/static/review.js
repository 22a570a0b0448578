// The whole order before it is submitted, and the receipt after.

import { $, $$, button, h, letter, reasonText } from "./dom.js";
import { gradeText, isGrading } from "./grading.js";
import { position } from "./model.js";
import { drawMissing, taskQuestions } from "./questions.js";
import { drawSheet } from "./reader.js";
import { dateTime, listed, number, t } from "./words.js";

/** A solution in the order; a button, since a look at it may change a mind. */
const one = (app, label, text) => h(
  "button.open-it", { type: "button", "data-open": label },
  h("span.unseen", {}, isGrading(app) ? t("Candidate") : t("Solution"), " "),
  letter(label),
  text && h("span.snippet", { dir: "auto" }, text),
);

function row(app, group, index) {
  const { comments } = app.state;
  const isTie = group.length > 1;
  const text = (label) => (isTie ? "" : comments[label] || app.solutions.about(label).snippet);
  const above = app.state.ranked[index - 1]?.[0];
  if (isGrading(app)) {
    const name = h("b", { dir: "auto" }, gradeText(app, group[0]));
    return h("li.of-grade", {}, name, group.map((label) => one(app, label, "")));
  }
  return h(
    "li", {},
    h("span.position", {}, `${number(position(app.state.ranked, index))}${isTie ? "=" : ""}`),
    group.map((label) => one(app, label, text(label))),
    isTie && h("span.muted", {}, t("tied")),
    app.canRank && above && h("button.btn.quiet.compare-row", {
      type: "button",
      "data-pair": `${above} ${group[0]}`,
      "aria-label": t("Compare {one} and {other}", { one: above, other: group[0] }),
    }, t("Compare")),
  );
}

/** Show the order as a whole: to submit it, or as it was submitted. */
export function drawReview(app) {
  const { state } = app;
  const isWhole = state.tray.length === 0;
  const cannot = Object.entries(state.cannot).map(([label, reason]) => `${label} (${reasonText(reason)})`);
  const unopened = app.unopened();
  const grades = isGrading(app);
  const send = grades ? t("Submit grades") : t("Submit ranking");
  const content = h(
    "div", {},
    app.saver.isSubmitting && app.saver.failures > 0 && h(
      "p.note", {}, t("Not submitted yet. It will be submitted when the server answers again."),
    ),
    h("p.muted", {}, note(app)),
    app.submitted && app.receipt && receiptLine(app.receipt),
    app.canRank && unopened.length > 0
      && h("p.note", {}, t("You have not opened {labels}.", { labels: listed(unopened) })),
    h("ol.final", {}, state.ranked.map((group, index) => row(app, group, index))),
    cannot.length > 0 && h("p.muted", {}, t("Cannot judge: {solutions}", { solutions: cannot.join(", ") })),
    taskQuestions(app),
    app.canRank ? commentField() : state.comment && h("p.prose", {}, state.comment),
    h("div.missing"),
    h("div.actions", {}, app.canRank && button("send", send, { kind: ".primary.big" }), app.canReopen
      && button("reopen", grades ? t("Reopen") : t("Reopen ranking"))),
  );
  const own = grades ? t("Your grades") : t("Your ranking");
  const title = app.canRank && isWhole ? isThisIt(app) : own;
  drawSheet(title, "", content, ".review");
  drawMissing(app);
  if (app.canRank) $("#group-comment").value = state.comment;
}

/** What is asked before an order is submitted. */
export const isThisIt = (app) => (
  isGrading(app) ? t("All graded. Are these your grades?") : t("All ranked. Is this your order?")
);

/** The order in one line, best first. */
export function drawOrder(app) {
  const { ranked } = app.state;
  return isGrading(app)
    ? ranked.map((group) => `${gradeText(app, group[0])}: ${group.join(", ")}`).join("; ")
    : ranked.map((group) => group.join(" = ")).join(" > ");
}

const commentField = () => [
  h("label.field", { for: "group-comment" }, t("Comment on this task"), " ", h("span.muted", {}, t("(optional)"))),
  h("textarea", { id: "group-comment", rows: "3", maxlength: "4000", "data-field": "comment" }),
];

function note(app) {
  if (isGrading(app)) {
    return app.canRank || app.canReopen
      ? t("To change a grade, open the candidate. You can reopen what you submitted until the study closes.")
      : "";
  }
  if (app.canRank) {
    return t("Best at the top. To change the order, drag in the list, compare two, or use the “…” menus. "
      + "You can reopen a submitted ranking until the study closes.");
  }
  if (app.canReopen) return t("You can reopen this ranking until the study closes.");
  return t("Best at the top.");
}

const receiptLine = ({ code, at }) => h(
  "p.submitted", {}, t("You submitted this ranking:"), ` ${dateTime(new Date(at))} · `, t("receipt"), " ",
  h("code", {}, code),
);

/** Say that the ranking is stored as submitted, with what shows it. */
export function showReceipt(app, { code, at, next }) {
  const { data, state } = app;
  const grades = isGrading(app);
  const rows = [
    [t("Study"), data.study],
    [t("Task"), data.step ? `${data.step}: ${data.title}` : data.title],
    [grades ? t("Your grades") : t("Your order"), drawOrder(app)],
    [t("Cannot judge"), Object.keys(state.cannot).join(", ") || t("none")],
    [t("Submitted"), dateTime(new Date(at))],
    code && [t("Receipt"), code],
  ].filter(Boolean);
  const dialog = $("#receipt");
  $("dl", dialog).replaceChildren(...rows.flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]));
  const file = $("a[download]", dialog);
  URL.revokeObjectURL(file.href);
  const text = rows.map((pair) => `${pair.join(": ")}\n`).join("");
  file.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  file.hidden = !code;
  $(".next", dialog).href = next;
  $(".next", dialog).textContent = next.split("?")[0].endsWith("/done") ? t("Finish") : t("Next task");
  for (const other of $$("dialog[open]")) other.close();
  dialog.showModal();
}
