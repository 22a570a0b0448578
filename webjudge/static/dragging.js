// Dragging cards with SortableJS, which is an input device only: it tells where a card was
// dropped, and the page is drawn anew from the model.

/* global Sortable */

// A card that is held over this part of another one ties with it.
const TIE_FROM = 0.25;
const TIE_TO = 0.75;

/**
 * @param {HTMLElement[]} lists the tray and the ranking
 * @param {object} told start(card), drop({label, list, before, after, tie}), end()
 */
export function makeDraggable(lists, told) {
  let tie = null;

  const mark = (card) => {
    if (tie === card) return;
    tie?.classList.remove("tie-target");
    tie = card;
    tie?.classList.add("tie-target");
  };

  const move = (event, original) => {
    const card = event.related.closest(".card");
    const ranked = event.to.id === "ranked";
    if (!ranked || !card || card === event.dragged) {
      mark(null);
      return true;
    }
    const pointer = original.touches?.[0] ?? original;
    const box = card.getBoundingClientRect();
    const share = (pointer.clientY - box.top) / box.height;
    if (share > TIE_FROM && share < TIE_TO) {
      mark(card);
      return false;
    }
    mark(null);
    return share <= TIE_FROM ? -1 : 1;
  };

  // Sortable asks only when the pointer meets another card; leaving the card ends the tie.
  const leave = (event) => {
    if (!tie) return;
    const pointer = event.touches?.[0] ?? event;
    const box = tie.getBoundingClientRect();
    const share = (pointer.clientY - box.top) / box.height;
    const beside = pointer.clientX < box.left || pointer.clientX > box.right;
    if (beside || share <= TIE_FROM || share >= TIE_TO) mark(null);
  };

  const settings = {
    group: "cards",
    handle: ".handle",
    draggable: ".card",
    forceFallback: true, // the same for mouse and touch, and our own picture of what is dragged
    fallbackOnBody: true,
    fallbackTolerance: 4,
    animation: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 140,
    ghostClass: "card-place",
    fallbackClass: "card-dragged",
    scrollSensitivity: 90,
    scrollSpeed: 14,
    invertSwap: false,
    onStart: (event) => {
      addEventListener("pointermove", leave, { passive: true });
      addEventListener("touchmove", leave, { passive: true });
      told.start(event.item);
    },
    onMove: move,
    onEnd: (event) => {
      removeEventListener("pointermove", leave);
      removeEventListener("touchmove", leave);
      const onto = tie?.dataset.label ?? null;
      mark(null);
      const near = (card) => (card?.classList.contains("card") ? card.dataset.label : null);
      told.drop({
        label: event.item.dataset.label,
        list: event.to.id,
        before: near(event.item.nextElementSibling),
        after: near(event.item.previousElementSibling),
        tie: onto,
      });
    },
  };
  const sortables = lists.map((list) => Sortable.create(list, settings));
  return {
    enable(yes) {
      for (const sortable of sortables) sortable.option("disabled", !yes);
    },
  };
}
