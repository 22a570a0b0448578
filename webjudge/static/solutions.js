// A task's solutions: metadata, and texts sent with the page or loaded later.

import { $, $$, h } from "./dom.js";
import { setFormulas } from "./formulas.js";
import { read } from "./network.js";
import { number, roughly, t, tn } from "./words.js";

const WORDS_A_MINUTE = 230;
const SLOW = 400;

export class Solutions {
  /** From the page's data; calls `changed` when a text is loaded, slow, or failed. */
  constructor(data, changed) {
    this.data = data;
    this.changed = changed;
    this.texts = new Map(); // DocumentFragment, by version
    this.loading = new Map(); // "new", "slow" or "failed", by version
    this.drawn = new Map(); // elements on the page, by key
    for (const { dataset, content } of $$("template[data-solution]")) this.texts.set(dataset.version, content);
  }

  about(label) {
    return this.data.solutions[label];
  }

  /** Loading state of a text: "new", "slow", "failed", or empty if loaded. */
  waiting(label) {
    const version = this.data.versions[label];
    return this.texts.has(version) ? "" : this.loading.get(version) ?? "new";
  }

  /** Load a text; retries after a failure. */
  async load(label) {
    const version = this.data.versions[label];
    if (this.texts.has(version) || /new|slow/.test(this.loading.get(version))) return;
    const become = (word) => {
      this.loading.set(version, word);
      this.changed();
    };
    this.loading.set(version, "new");
    const timer = setTimeout(become, SLOW, "slow");
    const answer = await read(this.data.urls.solution.replace("VERSION", version));
    clearTimeout(timer);
    const template = answer?.status === 200 && $("template", answer.page);
    if (template) this.texts.set(version, template.content);
    become(template ? "" : "failed");
  }

  /** A text's element, or null; ids have a prefix, since two copies may be on the page. */
  prose(label, prefix = "") {
    const version = this.data.versions[label];
    const text = this.texts.get(version);
    return text ? this.element(`${prefix}${label}`, text, `prose is-${this.about(label).shape}`) : null;
  }

  statement(prefix, name) {
    return this.element(prefix, $("#statement").content, "prose", name);
  }

  /** A text's element, created once to keep its open details. */
  element(prefix, text, className, name = t("Table")) {
    if (!this.drawn.has(prefix)) {
      const prose = h("div", { class: className, dir: "auto" }, document.importNode(text, true));
      this.drawn.set(prefix, finish(prose, prefix, name));
    }
    const prose = this.drawn.get(prefix);
    // After insertion, since a formula's width is known only then.
    queueMicrotask(() => setFormulas(prose));
    return prose;
  }

  /** A solution's size: "8,056 words, 2 pictures". */
  size(label) {
    const { words, lines, pages, pictures } = this.about(label);
    return [
      words && tn("1 word", "{n} words", words),
      lines && tn("1 line of code", "{n} lines of code", lines),
      pages && tn("1 page", "{n} pages", pages),
      pictures && tn("1 picture", "{n} pictures", pictures),
    ].filter(Boolean).join(", ");
  }

  /** The same, abbreviated. */
  shortSize(label) {
    const { words, lines, pages, pictures } = this.about(label);
    if (pages) return tn("1 page", "{n} pages", pages);
    if (lines) return tn("1 line", "{n} lines", lines);
    if (pictures && words < 100) return tn("1 picture", "{n} pictures", pictures);
    return words < 1000 ? tn("1 word", "{n} words", words) : t("{n} words", { n: roughly(words) });
  }

  /** Estimated reading time; empty for short texts. */
  reading(label) {
    const minutes = Math.round(this.about(label).words / WORDS_A_MINUTE);
    return minutes > 2 ? t("about {n} min", { n: number(minutes) }) : "";
  }
}

/** Add anchors for the contents, region names, and image enlarging to a text. */
function finish(prose, prefix, name) {
  headings(prose).forEach((heading, n) => { heading.id = `${prefix}-${n + 1}`; });
  const regions = $$(".table-scroll", prose).map((table) => [table, name]);
  for (const code of $$("pre.code", prose)) {
    regions.push([code, tn("Code, 1 line", "Code, {n} lines", $$(".line", code).length)]);
  }
  for (const [region, ariaLabel] of regions) Object.assign(region, { role: "region", ariaLabel });
  for (const image of $$("img", prose)) {
    const alt = image.alt || t("image");
    const zoom = h("button.zoom", { type: "button", "aria-label": t("Enlarge: {alt}", { alt }) });
    image.replaceWith(zoom);
    zoom.append(image);
  }
  return prose;
}

export const headings = (prose) => $$("h3, h4, h5, h6", prose).filter((one) => one.textContent.trim());
