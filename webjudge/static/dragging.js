// Dragging a solution in the ladder: by its grip with a finger or pen, anywhere on its row with a mouse.
//
// The drop action depends on the pointer's height in the row below it, and is shown beside
// the pointer; the order changes on release only.

import { $, $$, h } from "./dom.js";
import { listed, t } from "./words.js";

const FAR = 5;
// The upper part of a row drops above it, the lower part below it, and the middle ties.
const [TIE_FROM, TIE_TO] = [0.27, 0.73];
const EDGE = 36;
const SPEED = 8;
const ASIDE = 40;
const MARKS = { above: "drop-above", below: "drop-below", tie: "drop-tie", grade: "drop-grade" };

const labelsIn = (rung) => $$(".chip", rung).map((chip) => chip.dataset.label);

/** The drop target at a point: {rung, how, other}, {grade}, {isFirst}, {isOut}, or null. */
function aimAt({ clientX: x, clientY: y }, label, page) {
  const box = $("#ladder-scroll").getBoundingClientRect();
  if (x < box.left - ASIDE || x > box.right + ASIDE || y < box.top - ASIDE || y > box.bottom + ASIDE) return null;
  if (y > $("#tray-part").getBoundingClientRect().top) return { isOut: true };
  if (page.isGrading) return gradeAt(y, page);
  const rungs = $$("#ranked .rung").filter((rung) => labelsIn(rung).some((other) => other !== label));
  if (!rungs.length) return { isFirst: true };
  const aims = rungs.map((rung) => {
    const { top, height } = rung.getBoundingClientRect();
    const share = (y - top) / height;
    const how = (share < TIE_FROM && "above") || (share > TIE_TO && "below") || "tie";
    return { rung, how, away: Math.max(-share, share - 1, 0), others: labelsIn(rung).filter((l) => l !== label) };
  });
  return aims.reduce((best, aim) => (aim.away < best.away ? aim : best));
}

/** The grade with the nearest row. */
function gradeAt(y, page) {
  const away = (rung) => {
    const { top, bottom } = rung.getBoundingClientRect();
    return Math.max(top - y, y - bottom, 0);
  };
  const rung = $$("#ranked .rung").reduce((best, one) => (away(one) < away(best) ? one : best));
  const grade = rung.dataset.drop;
  return { rung, how: "grade", grade, text: page.data.grades[grade] };
}

function says(aim) {
  if (!aim) return t("Let go to cancel");
  if (aim.grade) return aim.text;
  if (aim.isFirst) return t("Place here");
  if (aim.isOut) return t("Unrank");
  const others = listed(aim.others);
  return {
    above: t("Better than {others}", { others }),
    below: t("Worse than {others}", { others }),
    tie: t("Tie with {others}", { others }),
  }[aim.how];
}

/** Make solutions draggable; calls `drop(label, aim)` on release. */
export function makeDraggable(page, drop) {
  $("#ladder").addEventListener("pointerdown", (down) => {
    const chip = down.target.closest(".chip");
    if (!chip || down.button || !page.canRank || page.isComparing || down.target.closest(".more")) return;
    if (down.pointerType !== "mouse" && !down.target.closest(".grip")) return;
    new Drag(page, drop, chip, down);
  });
}

class Drag {
  constructor(page, drop, chip, down) {
    Object.assign(this, { page, drop, chip, down, last: down, aim: null, ghost: null, frame: 0 });
    this.label = chip.dataset.label;
    this.stopping = new AbortController();
    const { signal } = this.stopping;
    const ours = (act) => (event) => { if (event.pointerId === down.pointerId) act(event); };
    addEventListener("pointermove", ours((event) => this.move(event)), { signal });
    addEventListener("pointerup", ours((event) => {
      this.last = event;
      this.stop(true);
    }), { signal });
    addEventListener("pointercancel", ours(() => this.stop(false)), { signal });
    addEventListener("blur", () => this.stop(false), { signal });
    addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.ghost) return;
      event.preventDefault();
      event.stopPropagation();
      this.stop(false);
    }, { signal, capture: true });
  }

  move(event) {
    this.last = event;
    const { clientX, clientY } = this.down;
    if (this.ghost || Math.hypot(event.clientX - clientX, event.clientY - clientY) <= FAR) return;
    this.ghost = h("div.ghost", { "aria-hidden": "true" }, h("span.letter", {}, this.label), h("span"));
    document.body.append(this.ghost);
    document.body.classList.add("is-dragging");
    this.chip.classList.add("is-dragged");
    $("#tray-part").hidden = false; // a target for removing it from the ranking
    this.tick();
  }

  tick() {
    const box = $("#ladder-scroll");
    const { top, bottom } = box.getBoundingClientRect();
    if (this.last.clientY < top + EDGE) box.scrollTop -= SPEED;
    else if (this.last.clientY > bottom - EDGE) box.scrollTop += SPEED;
    this.look();
    this.frame = requestAnimationFrame(() => this.tick());
  }

  /** Highlight the drop target, and name the action beside the pointer. */
  look() {
    unmark();
    this.aim = aimAt(this.last, this.label, this.page);
    this.aim?.rung?.classList.add(MARKS[this.aim.how]);
    if (this.aim?.isOut) $("#tray-part").classList.add("drop-out");
    this.ghost.lastChild.textContent = says(this.aim);
    const { clientX, clientY } = this.last;
    this.ghost.style.left = `${Math.min(innerWidth - this.ghost.offsetWidth - 8, clientX + 18)}px`;
    this.ghost.style.top = `${clientY - 44}px`;
  }

  stop(isDrop) {
    this.stopping.abort();
    if (!this.ghost) return; // it was a click
    cancelAnimationFrame(this.frame);
    if (isDrop) this.look();
    unmark();
    this.chip.classList.remove("is-dragged");
    document.body.classList.remove("is-dragging");
    this.ghost.remove();
    swallowClick();
    const { aim, label } = this;
    $("#tray-part").hidden = !this.page.state.tray.length;
    if (isDrop && aim) this.drop(label, { ...aim, other: aim.others?.[0] });
  }
}

function unmark() {
  const marks = [...Object.values(MARKS), "drop-out"];
  for (const element of $$(marks.map((mark) => `.${mark}`).join())) element.classList.remove(...marks);
}

/** Suppress the click that follows a drag. */
function swallowClick() {
  const swallow = (event) => {
    event.stopPropagation();
    event.preventDefault();
  };
  addEventListener("click", swallow, { capture: true });
  setTimeout(() => removeEventListener("click", swallow, { capture: true }));
}
