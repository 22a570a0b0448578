// The open solution: sticky title, lines of about 70 characters, contents, and enlargeable images.

import { $, $$, h } from "./dom.js";
import { gradeText, gradingBar } from "./grading.js";
import { place } from "./model.js";
import { button, classes, key, more, named, put, sign } from "./parts.js";
import { solutionQuestions } from "./questions.js";
import { headings } from "./solutions.js";
import { html, nothing } from "./vendor/lit-html.js";
import { t } from "./words.js";

// Minimum headings for contents, and for contents with upper levels only.
const CONTENTS_FROM = 4;
const DEEP = 10;

/** Draw a page of the reader: sticky header with a title, and the text below. */
export function drawSheet({ title, meta = "", before, actions, content, contents, kind = "", text, below }) {
  put(html`
    <div class=${classes("reader", contents && "has-contents", kind)} id="reader" tabindex="0" role="region"
      aria-labelledby="reader-title" data-text=${text ?? nothing} @scroll=${follow}>
      <div class="reader-head">
        <div class="in">
          ${before}
          <div class="who"><h2 id="reader-title" tabindex="-1">${title}</h2><span class="meta">${meta}</span></div>
          ${actions}
        </div>
        ${kind ? nothing : html`<progress class="reading-line" max="1" value="0" aria-hidden="true"></progress>`}
      </div>
      <div class="sheet">${content}${contents}</div>
    </div>${below}`, $("#main"));
  follow();
}

/** Draw the reading progress and the current section. */
function follow() {
  const [box, progress] = [$("#reader"), $(".reading-line")];
  if (!progress) return;
  const most = box.scrollHeight - box.clientHeight;
  progress.hidden = box.scrollHeight < box.clientHeight * 1.4;
  progress.value = most < 8 ? 1 : box.scrollTop / most;
  const edge = $(".reader-head").getBoundingClientRect().bottom + 40;
  const entries = $$(".contents a", box);
  const isPassed = ({ dataset }) => document.getElementById(dataset.section).getBoundingClientRect().top < edge;
  const now = box.scrollTop ? entries.filter(isPassed).at(-1) : null;
  for (const link of entries) link.ariaCurrent = link === now ? "true" : null;
}

/** Show the open solution, with its text once loaded. */
export function drawReader(page) {
  const { current: label, solutions, canRank, isGrading } = page;
  const isRanked = page.isRanked(label);
  const prose = solutions.prose(label);
  const sections = prose ? headings(prose) : [];
  const hasContents = sections.length >= CONTENTS_FROM;
  const standing = isGrading ? gradeText(page, label) : place(page.state, label);
  drawSheet({
    title: named(page, label),
    meta: [standing, solutions.size(label), solutions.reading(label)].filter(Boolean).join(" · "),
    text: prose ? `${label} ${page.data.versions[label]}` : null,
    before: sign(label, isRanked),
    actions: html`
      ${hasContents ? button("contents", t("Contents"), { kind: "quiet" }) : nothing}
      ${canRank && !isGrading ? placeButton(page, isRanked) : nothing}
      ${canRank ? more(page, label, "btn quiet icon") : nothing}`,
    content: html`
      <article aria-label=${named(page, label)}>
        ${isGrading ? query(page) : nothing}
        ${prose ? [prose, solutionQuestions(page, label), end(page, label, isRanked)] : loading(page, label)}
      </article>`,
    contents: hasContents ? html`
      <nav class="contents" aria-label=${t("Contents")}><h3>${t("Contents")}</h3>${links(sections)}</nav>` : null,
    below: isGrading && canRank ? gradingBar(page, label) : nothing,
  });
}

/** The collapsible query above a candidate. */
const query = (page) => ($("#statement") ? html`
  <details class="query" ?open=${page.isQueryOpen} @toggle=${({ target }) => page.set({ isQueryOpen: target.open })}>
    <summary>${t("Query")}</summary>${page.solutions.statement("query", t("Query"))}
  </details>` : nothing);

/** The main action: compare, or place the first one. */
function placeButton({ state }, isRanked) {
  if (isRanked) return button("place", t("Compare again"), { keys: "C" });
  const text = state.ranked.length ? t("Compare and place") : t("Place as first");
  return button("place", html`${text}${key("C")}`, { kind: "primary", keys: "C" });
}

/** The end of a text, with the next step. */
function end({ state, canRank, isGrading }, label, isRanked) {
  if (!canRank) return nothing;
  const onward = isGrading ? t("Next candidate") : t("Next solution");
  const text = state.ranked.length ? t("Compare and place {label}", { label }) : t("Place as first");
  const said = isGrading ? t("End of candidate {label}.", { label }) : t("End of solution {label}.", { label });
  return html`
    <div class="end-of-text"><span class="muted">${said}</span>${
      isGrading || isRanked ? button("next", state.tray.length ? onward : t("Review and submit"))
        : button("place", text, { kind: "primary" })}</div>`;
}

/** Loading state of a text, or a button to retry. */
export function loading({ solutions }, label) {
  const word = solutions.waiting(label);
  const text = word === "slow" ? t("Loading solution {label}…", { label }) : "";
  if (word !== "failed") return html`<p class="loading" role="status">${text}</p>`;
  return html`<p class="loading" role="alert"><span>${t("Solution {label} could not be loaded.", { label })}</span>${
    button("reload", t("Try again"))}</p>`;
}

/** Links to a text's sections; only upper levels if there are many. */
export function links(sections) {
  const levels = sections.map((section) => Number(section.tagName[1]));
  const top = Math.min(...levels);
  const isAlone = levels.filter((level) => level === top).length === 1 && sections.length > CONTENTS_FROM;
  const first = isAlone ? top + 1 : top;
  const isShort = levels.filter((level) => level <= top + 1).length < CONTENTS_FROM;
  const last = sections.length > DEEP ? top + 1 + Number(isShort) : 6;
  return sections.filter((_, n) => levels[n] >= first && levels[n] <= last).map(({ id, tagName, textContent }) => html`
    <a class="level-${Number(tagName[1]) - first}" href="#${id}" data-section=${id}>${textContent.trim()}</a>`);
}

export function goTo(id) {
  const section = document.getElementById(id);
  section.tabIndex = -1;
  section.scrollIntoView();
  section.focus({ preventScroll: true });
}

export function drawProblem(page) {
  const { isGrading } = page;
  const isNew = page.isUntouched && !isGrading;
  drawSheet({
    title: isGrading ? t("Query") : t("Problem"),
    meta: page.data.title,
    actions: button("next", isNew ? t("Read the first solution") : t("Continue"), { kind: "primary" }),
    content: html`<article>${page.solutions.statement("statement")}</article>`,
    kind: "is-problem",
  });
}

export function enlarge(zoom) {
  const { src, alt } = $("img", zoom);
  fit(true);
  $("#enlarged .view").replaceChildren(h("img", { src, alt }));
  $("#enlarged").showModal();
}

/** Toggle the enlarged image between window size and original size. */
export function fit(isFit = !$("#enlarged").classList.contains("is-fit")) {
  $("#enlarged").classList.toggle("is-fit", isFit);
  $("#enlarged [data-do=fit]").textContent = isFit ? t("Actual size") : t("Fit to window");
}
