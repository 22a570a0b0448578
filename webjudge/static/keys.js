// What keys do. Single letters and signs work only while a handle has the focus (WCAG 2.1.4):
// elsewhere somebody who dictates may say them by chance.

const KEYS = {
  ArrowUp: "better", ArrowDown: "worse", t: "tie", u: "untie", Delete: "tray", Backspace: "tray",
  Enter: "worst", Home: "best", End: "worst",
};

/**
 * @param {function(string): boolean} isRanked whether the solution of this label is ranked
 * @param {object} does functions: act(name, label), step("undo" | "redo"), help()
 */
export function listen(isRanked, does) {
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]") || event.altKey) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.ctrlKey || event.metaKey) {
      if ((key !== "z" && key !== "y") || event.target.matches("textarea, input, select")) return;
      event.preventDefault();
      does.step(key === "y" || event.shiftKey ? "redo" : "undo");
      return;
    }
    if (!event.target.matches(".handle")) return;
    const { label } = event.target.closest(".card").dataset;
    const ranked = isRanked(label);
    if (key === "?") does.help();
    else if (!ranked && (key === "ArrowUp" || key === "ArrowDown")) {
      nextHandle(event.target, key === "ArrowDown" ? 1 : -1);
    } else if (key in KEYS && !(key === "Enter" && ranked)) does.act(KEYS[key], label);
    else return;
    event.preventDefault();
  });
}

/** In the tray arrows go from card to card. */
function nextHandle(handle, by) {
  const handles = [...handle.closest("ul, ol").querySelectorAll(".handle")];
  handles[handles.indexOf(handle) + by]?.focus();
}
