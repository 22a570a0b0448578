// Formulas: marked by the server and rendered by KaTeX, which is loaded on demand.

import { $, $$ } from "./dom.js";

const WAITING = ".math:not([data-set])";
const OPTIONS = {
  output: "htmlAndMathml",
  trust: false,
  throwOnError: false,
  errorColor: "inherit",
  maxExpand: 1000,
  maxSize: 50,
};

let loading = null;

/** Render all formulas in an element once KaTeX is loaded. */
export async function setFormulas(within) {
  if (!$(WAITING, within)) return;
  loading ??= Promise.all([
    load("link", { rel: "stylesheet", href: at("katex.min.css") }), load("script", { src: at("katex.min.js") }),
  ]);
  try {
    await loading;
  } catch {
    loading = null; // the TeX stays readable, and the next text tries again
    return;
  }
  withStyles(() => $$(WAITING, within).forEach(set));
}

const at = (name) => new URL(`vendor/${name}`, import.meta.url).href;

const load = (tag, values) => new Promise((onload, onerror) => {
  document.head.append(Object.assign(document.createElement(tag), values, { onload, onerror }));
});

function set(place) {
  const displayMode = place.dataset.display === "true";
  place.dataset.set = "true";
  window.katex.render(place.textContent, place, { ...OPTIONS, displayMode });
  // Horizontally scrollable content must be reachable by keyboard.
  if (displayMode && place.scrollWidth > place.clientWidth) place.tabIndex = 0;
}

/**
 * KaTeX writes a few style attributes, which the page's policy silently drops: the
 * arrow of a vector would be missing. Set through the style object, they are allowed.
 */
function withStyles(work) {
  const plain = Element.prototype.setAttribute;
  Element.prototype.setAttribute = function setAttribute(name, value) {
    if (name === "style") this.style.cssText = value;
    else plain.call(this, name, value);
  };
  try {
    work();
  } finally {
    Element.prototype.setAttribute = plain;
  }
}

setFormulas(document);
