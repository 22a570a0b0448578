// The solution in hand: a title that stays, text of about 70 characters, contents, pictures to enlarge.

import { $, $$, button, h, letter } from "./dom.js";
import { gradeText, gradingBar, isGrading } from "./grading.js";
import { place, whereabouts } from "./model.js";
import { solutionQuestions } from "./questions.js";
import { finish, headings } from "./solutions.js";
import { t } from "./words.js";

const LOADING_AFTER = 400;
// From so many headings on there are contents.
const CONTENTS_FROM = 4;
const DEEP = 10;

const key = (name) => h("kbd", { "aria-hidden": "true" }, name);

/** A page of the reader: a head that stays, and what is read below it. */
function sheet(head, content, { contents = null, kind = "" } = {}) {
  return h(
    `div.reader${contents ? ".has-contents" : ""}${kind}`,
    { id: "reader", tabindex: "0", role: "region", "aria-labelledby": "reader-title" },
    h("div.reader-head", {}, h("div.in", {}, head), kind ? null : line()),
    h("div.sheet", {}, content, contents),
  );
}

const title = (text) => h("h2", { id: "reader-title", tabindex: "-1" }, text);
const line = () => h("progress.reading-line", { max: "1", value: "0", "aria-hidden": "true" });

/** Show the solution in hand; its text as soon as it is there. */
export function drawReader(app) {
  const { current: label, solutions } = app;
  const name = solutions.ready(label) ? `${label} ${app.data.versions[label]}` : "";
  const old = $("#reader");
  const isShown = name && old?.dataset.text === name;
  const prose = isShown ? $("article > .prose", old) : solutions.prose(label);
  const sections = prose ? headings(prose) : [];
  const contents = sections.length >= CONTENTS_FROM ? sections : null;
  const grades = isGrading(app);
  const named = grades ? t("Candidate {label}", { label }) : t("Solution {label}", { label });
  const standing = grades ? gradeText(app, label) : place(app.state, label);
  const size = [standing, solutions.size(label), solutions.reading(label)];
  const bar = grades && app.canRank && gradingBar(app, label);
  const head = [
    letter(label, whereabouts(app.state, label).area === "ranked"),
    h("div.who", {}, title(named), h("span.meta", {}, size.filter(Boolean).join(" · "))),
    contents && button("contents", t("Contents"), { kind: ".quiet" }),
    app.canRank && !grades && placeButton(app, label),
    app.canRank && h("button.btn.quiet.icon", {
      type: "button",
      "data-more": label,
      "aria-haspopup": "menu",
      "aria-label": grades
        ? t("Candidate {label}: more actions", { label })
        : t("Solution {label}: more actions", { label }),
    }, "…"),
  ];
  if (isShown) {
    // The text stays as it is: what is selected or unfolded in it, too.
    $(".in", old).replaceChildren(...head.filter(Boolean));
    for (const part of $$(".questions, .end-of-text", old)) part.remove();
    $("article", old).append(...below(app, label));
    $("#main").replaceChildren(...[old, bar].filter(Boolean));
    return;
  }
  const asked = grades && query(app);
  const article = h("article", { "aria-label": named }, asked, prose, prose && below(app, label));
  const aside = contents && h(
    "nav.contents", { "aria-label": t("Contents") }, h("h3", {}, t("Contents")), links(contents),
  );
  const box = sheet(head, article, { contents: aside });
  box.dataset.text = name;
  $("#main").replaceChildren(...[box, bar].filter(Boolean));
  if (prose) follow(box, contents ?? []);
  else load(app, label, article);
  solutions.load(app.upcoming ?? label).catch(() => {}); // the next one ahead
}

/** The query above a candidate, which can be folded away. */
function query(app) {
  if (!$("#statement")) return null;
  const box = h("details.query", { open: app.isQueryOpen }, h("summary", {}, t("Query")), statement("query"));
  for (const table of $$(".table-scroll", box)) table.setAttribute("aria-label", t("Query"));
  box.addEventListener("toggle", () => { app.isQueryOpen = box.open; });
  return box;
}

/** The main action: compare, or place the first one. */
function placeButton(app, label) {
  const attributes = { "aria-keyshortcuts": "C" };
  if (whereabouts(app.state, label).area === "ranked") {
    return button("place", t("Compare again"), attributes);
  }
  const text = app.state.ranked.length ? t("Compare and place") : t("Place as first");
  return h("button.btn.primary", { type: "button", "data-do": "place", ...attributes }, text, key("C"));
}

/** What stands below a text. */
const below = (app, label) => [solutionQuestions(app, label), end(app, label)].filter(Boolean);

function end(app, label) {
  if (!app.canRank) return null;
  if (isGrading(app)) {
    const after = app.state.tray.length ? t("Next candidate") : t("Review and submit");
    return h(
      "div.end-of-text", {},
      h("span.muted", {}, t("End of candidate {label}.", { label })), button("next", after),
    );
  }
  const isRanked = whereabouts(app.state, label).area === "ranked";
  const next = app.state.tray.length ? t("Next solution") : t("Review and submit");
  const text = app.state.ranked.length
    ? t("Compare and place {label}", { label })
    : t("Place as first");
  return h(
    "div.end-of-text",
    {},
    h("span.muted", {}, t("End of solution {label}.", { label })),
    isRanked ? button("next", next) : button("place", text, { kind: ".primary" }),
  );
}

/** Say that a text is on its way, and bring it, or offer to try again. */
async function load(app, label, article) {
  const note = h("p.loading", { role: "status" });
  article.append(note);
  const timer = setTimeout(() => { note.textContent = t("Loading solution {label}…", { label }); }, LOADING_AFTER);
  try {
    await app.solutions.load(label);
    clearTimeout(timer);
    if (article.isConnected) app.redraw();
  } catch {
    clearTimeout(timer);
    note.replaceChildren(
      h("span", {}, t("Solution {label} could not be loaded.", { label })),
      button("reload", t("Try again")),
    );
  }
}

/** Links to the sections of a text; of many, those of the upper levels. */
export function links(sections) {
  const levels = sections.map((section) => Number(section.tagName[1]));
  const top = Math.min(...levels);
  const most = levels.filter((level) => level <= top + 1).length >= CONTENTS_FROM ? top + 1 : top + 2;
  const alone = levels.filter((level) => level === top).length === 1 && sections.length > CONTENTS_FROM;
  const first = alone ? top + 1 : top;
  const shown = sections.filter((_, n) => levels[n] >= first && levels[n] <= (sections.length > DEEP ? most : 6));
  return shown.map((section) => h(
    `a.level-${Number(section.tagName[1]) - first}`, { href: `#${section.id}`, "data-section": section.id },
    section.textContent.trim(),
  ));
}

/** Go to a section of the text. */
export function goTo(id) {
  const section = document.getElementById(id);
  section.setAttribute("tabindex", "-1");
  section.scrollIntoView();
  section.focus({ preventScroll: true });
}

/** Draw how far one has read, and which section one is in. */
function follow(box, sections) {
  const progress = $(".reading-line", box);
  const read = () => {
    const most = box.scrollHeight - box.clientHeight;
    progress.value = most < 8 ? 1 : box.scrollTop / most;
    const edge = box.getBoundingClientRect().top + $(".reader-head", box).offsetHeight + 40;
    const now = sections.filter((section) => section.getBoundingClientRect().top < edge).at(-1);
    for (const link of $$(".contents a", box)) {
      if (link.dataset.section === now?.id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };
  box.addEventListener("scroll", read, { passive: true });
  progress.hidden = box.scrollHeight < box.clientHeight * 1.4;
}

/** Show the problem. */
export function drawProblem(app) {
  const isNew = !app.state.ranked.length && !Object.keys(app.state.cannot).length;
  const go = isNew && !isGrading(app) ? t("Read the first solution") : t("Continue");
  const head = [
    h("div.who", {}, title(isGrading(app) ? t("Query") : t("Problem")), h("span.meta", {}, app.data.title)),
    button("next", go, { kind: ".primary" }),
  ];
  $("#main").replaceChildren(sheet(head, h("article", {}, statement("statement")), { kind: ".is-problem" }));
}

/** The problem's text. */
export function statement(prefix) {
  const prose = h("div.prose", { dir: "auto" });
  prose.append(document.importNode($("#statement").content, true));
  return finish(prose, prefix);
}

/** Show another page in the reader, such as the review. */
export function drawSheet(text, meta, content, kind) {
  const head = h("div.who", {}, title(text), h("span.meta", {}, meta));
  $("#main").replaceChildren(sheet(head, content, { kind }));
}

/** Let a picture be seen in full size. */
export function enlarge(zoom) {
  const dialog = $("#enlarged");
  const { src, alt } = $("img", zoom);
  fit(true);
  $(".view", dialog).replaceChildren(h("img", { src, alt }));
  dialog.showModal();
}

/** Show the enlarged picture as large as the window, or in its own size. */
export function fit(isFit = !$("#enlarged").classList.contains("is-fit")) {
  $("#enlarged").classList.toggle("is-fit", isFit);
  $("#enlarged [data-do=fit]").textContent = isFit ? t("Actual size") : t("Fit to window");
}
