// Any two solutions side by side, and images in full size.

/** Open the comparison, with one solution chosen already or none. */
export function openComparison(labels, first = labels[0]) {
  const dialog = document.getElementById("comparison");
  const [left, right] = dialog.querySelectorAll("select");
  const second = labels[(labels.indexOf(first) + 1) % labels.length];
  left.value = first;
  if (!right.value || right.value === first) right.value = second;
  for (const select of [left, right]) {
    show(select);
    select.onchange = () => show(select);
  }
  dialog.showModal();
}

function show(select) {
  const pane = document.getElementById(select.dataset.pane);
  const body = document.querySelector(`#card-${select.value} .card-body`).cloneNode(true);
  for (const element of body.querySelectorAll("[id]")) element.removeAttribute("id");
  pane.replaceChildren(body);
  pane.scrollTop = 0;
}

/** Let images and pages of PDFs be seen in full size. */
export function zoomImages(page) {
  const dialog = document.getElementById("zoom");
  const image = dialog.querySelector("img");
  document.addEventListener("click", (event) => {
    const zoom = event.target.closest("button.zoom");
    if (zoom) {
      const small = zoom.querySelector("img");
      image.src = small.src;
      image.alt = small.alt;
      // A page fits its card about as well as the window, so it is shown in full size at once.
      dialog.classList.toggle("is-full", Boolean(zoom.closest(".pdf-page")));
      dialog.showModal();
    }
  });
  image.addEventListener("click", () => dialog.classList.toggle("is-full"));
  wrapImages(page);
}

/** Put each image of a text into a button that enlarges it. */
export function wrapImages(part) {
  for (const small of part.querySelectorAll(".card-body .html img")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "zoom";
    button.setAttribute("aria-label", `Enlarge image: ${small.alt || "image"}`);
    small.replaceWith(button);
    button.append(small);
  }
}
