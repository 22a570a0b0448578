// Two solutions beside each other, and the question which is better.

import { $, $$, button, h, letter, sign } from "./dom.js";
import { number, t } from "./words.js";

// Panes scroll together where one text is less than so many times as long as the other.
const ALIKE = 2;
const STEP = 60;

const key = (name) => h("kbd", { "aria-hidden": "true" }, name);

/** What a button shows: its name, or on a phone a sign. */
const named = (mark, text) => [h("span.on-phone", { "aria-hidden": "true" }, mark), h("span.name", {}, text)];

/** Draw the question of the workspace; the button of a verdict has the focus, or else the title. */
export function drawComparing(app, focus = "") {
  const { question } = app;
  const { label, other, side } = question;
  const [left, right] = side === "left" ? [label, other] : [other, label];
  const places = Object.fromEntries($$(".pane").map((one) => [one.dataset.pane, $(".body", one).scrollTop]));
  app.shown ??= label;
  $("#main").replaceChildren(h(
    "div.compare", { role: "region", "aria-labelledby": "compare-title" },
    head(app, left, right),
    h("div.panes", {}, pane(app, left, "left"), pane(app, right, "right")),
    h(
      "div.verdict", { role: "group", "aria-labelledby": "compare-title" },
      verdict(question, left, "left"),
      h("button.btn", { type: "button", "data-verdict": "equal" }, key("="), t("Equally good")),
      verdict(question, right, "right"),
    ),
  ));
  for (const one of $$(".pane")) $(".body", one).scrollTop = places[one.dataset.pane] ?? 0;
  scrollTogether(app);
  const held = focus && $(`[data-verdict=${focus}]`);
  (held || $("#compare-title")).focus({ preventScroll: true });
}

function head(app, left, right) {
  const { asked, most, label, isNew } = app.question;
  const all = number(asked + most);
  const count = most > 1
    ? t("Question {n} of at most {all}", { n: number(asked + 1), all })
    : t("Question {n}, the last", { n: number(asked + 1) });
  const pips = [...Array(asked + most).keys()].map((n) => h(`i${["", ".now", ".done"][Math.sign(asked - n) + 1]}`));
  return h(
    "div.compare-head", {},
    h(
      "div.who", {},
      h("h2", { id: "compare-title", tabindex: "-1" }, t("Which is better, {left} or {right}?", { left, right })),
      h("span.meta", {}, asked + most > 1 ? count : ""),
    ),
    h(
      "div.pane-switch", { role: "group", "aria-label": t("Solution shown") },
      [left, right].map((one) => h(
        "button.btn", { type: "button", "data-show": one, "aria-pressed": String(app.shown === one) },
        letter(one, one !== label || !isNew), isNew && one === label ? t("New") : t("Ranked"),
      )),
    ),
    asked + most > 1 && h("span.pips", { "aria-hidden": "true" }, pips),
    h(
      "button.btn.quiet", { type: "button", "data-do": "together", "aria-pressed": "false", "aria-keyshortcuts": "S" },
      sign("⇅"), t("Scroll together"),
    ),
    $("#statement") && button("problem", named("¶", t("Problem")), { kind: ".quiet", "aria-keyshortcuts": "P" }),
    button("back", named("↶", t("Back")), {
      kind: ".quiet", "aria-keyshortcuts": "Backspace", disabled: asked === 0,
    }),
    h("button.btn.quiet.icon", {
      type: "button", "data-do": "stop", "aria-label": t("Stop comparing"), "aria-keyshortcuts": "Escape",
    }, "✕"),
  );
}

function pane(app, label, side) {
  const { question, solutions } = app;
  const isNew = question.isNew && label === question.label;
  const tied = label === question.other ? question.tied : [];
  const place = [
    isNew ? t("to be placed") : t("in your ranking"),
    tied.length > 0 && t("tied with {others}", { others: tied.join(", ") }),
    solutions.size(label),
  ].filter(Boolean).join(" · ");
  const name = side === "left" ? t("Left: solution {label}", { label }) : t("Right: solution {label}", { label });
  const body = h(
    "div.body", { tabindex: "0", role: "region", "aria-label": t("Text of solution {label}", { label }) },
    solutions.prose(label, `${side}-`) ?? h("p.loading", {}, t("Loading solution {label}…", { label })),
  );
  if (!solutions.ready(label)) load(app, label, body);
  return h(
    `section.pane${app.shown === label ? ".is-shown" : ""}`, { "data-pane": label, "aria-label": name },
    h("header", {}, letter(label, !isNew), h("b", {}, t("Solution {label}", { label })), h("span.meta", {}, place)),
    body,
  );
}

async function load(app, label, body) {
  try {
    await app.solutions.load(label);
    if (body.isConnected) app.redraw();
  } catch {
    body.replaceChildren(h(
      "p.loading", { role: "alert" },
      h("span", {}, t("Solution {label} could not be loaded.", { label })), button("reload", t("Try again")),
    ));
  }
}

/** The button that says that the solution on a side is better. */
function verdict({ label, isNew }, one, side) {
  const says = one === label ? "better" : "worse";
  const arrow = side === "left" ? "←" : "→";
  const content = [
    key(arrow), letter(one, one !== label || !isNew), h("span", {}, t("{label} is better", { label: one })),
  ];
  if (side === "right") content.push(content.shift());
  return h("button.btn", { type: "button", "data-verdict": says, "data-side": side }, content);
}

const bodies = () => $$(".pane .body");
const rangeOf = (body) => body.scrollHeight - body.clientHeight;

/** Whether panes scroll together: as the judge said, else where both are about as long. */
function isTogether(app) {
  if (app.together !== null) return app.together;
  const [one, other] = bodies().map((body) => body.scrollHeight);
  return Math.max(one, other) < ALIKE * Math.min(one, other);
}

/** Let the pane that the judge scrolls lead, by its share of the way. */
function scrollTogether(app) {
  $("[data-do=together]").setAttribute("aria-pressed", String(isTogether(app)));
  let leader = null;
  const [left, right] = bodies();
  for (const [body, other] of [[left, right], [right, left]]) {
    for (const event of ["wheel", "touchstart", "pointerdown", "keydown", "focus"]) {
      body.addEventListener(event, () => { leader = body; }, { passive: true });
    }
    body.addEventListener("scroll", () => {
      if (leader !== body || !isTogether(app)) return;
      other.scrollTop = (body.scrollTop / Math.max(1, rangeOf(body))) * rangeOf(other);
    }, { passive: true });
  }
}

/** Turn scrolling together on or off. */
export function toggleTogether(app) {
  app.together = !isTogether(app);
  $("[data-do=together]").setAttribute("aria-pressed", String(app.together));
}

/** Scroll the panes from outside: each, or the longer one and the other with it. */
export function scrollPanes(app, pressed) {
  const shown = bodies().filter((body) => body.clientHeight);
  const screen = Math.min(...shown.map((body) => body.clientHeight)) * 0.9;
  const by = { ArrowUp: -STEP, ArrowDown: STEP, PageUp: -screen, PageDown: screen }[pressed];
  if (shown.length > 1 && isTogether(app)) {
    const [longer, other] = shown.toSorted((a, b) => rangeOf(b) - rangeOf(a));
    longer.scrollTop += by;
    other.scrollTop = (longer.scrollTop / Math.max(1, rangeOf(longer))) * rangeOf(other);
  } else for (const body of shown) body.scrollTop += by;
}

/** On a phone: show one solution or the other. */
export function showPane(app, label) {
  app.shown = label;
  for (const one of $$(".pane")) one.classList.toggle("is-shown", one.dataset.pane === label);
  for (const one of $$("[data-show]")) one.setAttribute("aria-pressed", String(one.dataset.show === label));
}
