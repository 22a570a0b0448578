// Dragging cards with SortableJS, which is an input device only: it tells where a card was
// dropped, and the page is drawn anew from the model.

/* global Sortable */

// A card that is held over this part of another one ties with it.
const TIE_FROM = 0.25;
const TIE_TO = 0.75;

/** Whether a height is in the part of a card that ties. */
function isMiddle(card, clientY) {
  const box = card.getBoundingClientRect();
  const share = (clientY - box.top) / box.height;
  return share > TIE_FROM && share < TIE_TO;
}

/**
 * @param {HTMLElement[]} lists the tray and the ranking
 * @param {object} on start(card), drop({label, list, before, after, tie}), end()
 */
export function makeDraggable(lists, on) {
  let tie = null;
  let dragged = null;

  const mark = (card) => {
    if (tie === card) return;
    tie?.classList.remove("tie-target");
    tie = card;
    tie?.classList.add("tie-target");
  };

  /** Mark the ranked card over whose middle the pointer is: Sortable knows only places between. */
  const watch = (event) => {
    const { clientX, clientY } = event.touches?.[0] ?? event;
    const card = document.elementsFromPoint(clientX, clientY)
      .map((element) => element.closest("#ranked .card"))
      .find((found) => found && found !== dragged);
    mark(card && isMiddle(card, clientY) ? card : null);
  };

  const move = (event, original) => {
    const card = event.related.closest(".card");
    if (event.to.id !== "ranked" || !card || card === event.dragged) return true;
    const { clientY } = original.touches?.[0] ?? original;
    if (isMiddle(card, clientY)) return false;
    const box = card.getBoundingClientRect();
    return clientY < box.top + box.height / 2 ? -1 : 1;
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
      dragged = event.item;
      addEventListener("pointermove", watch, { passive: true });
      addEventListener("touchmove", watch, { passive: true });
      on.start(event.item);
    },
    onMove: move,
    onEnd: (event) => {
      removeEventListener("pointermove", watch);
      removeEventListener("touchmove", watch);
      const onto = tie?.dataset.label ?? null;
      mark(null);
      const near = (card) => (card?.classList.contains("card") ? card.dataset.label : null);
      on.drop({
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
