// Form drafts: kept in this browser until saved, for all tabs and across reloads.
//
// Each value is stored with the one that its page showed: so the server detects a save of the
// same field by another tab in between.

import { $ } from "./dom.js";
import { keep, kept } from "./storage.js";

function readFrom(storage, key) {
  try {
    return JSON.parse(kept(key, storage)) ?? {};
  } catch {
    return {};
  }
}

const write = (storage, key, draft) => (
  keep(key, Object.keys(draft).length ? JSON.stringify(draft) : null, storage)
);

export function keepTyped() {
  const [form, saved] = [$("form[data-draft]"), $("[data-saved]")];
  const key = `quem-draft:${form?.dataset.draft ?? saved?.dataset.saved}`;
  if (saved) forget(key);
  if (!form) return;
  const { elements } = form;
  const shown = JSON.parse(elements.shown.value);
  const fields = () => [...new Set(new FormData(form).keys())].filter((name) => name !== "shown");
  const update = (names) => {
    const draft = readFrom("localStorage", key);
    for (const name of names) {
      const [{ value }, base] = [elements[name], shown[name] ?? ""];
      if (value === base) delete draft[name];
      else draft[name] = { value, base };
    }
    const works = write("localStorage", key, draft);
    const how = works ? "This browser keeps what you typed." : "This browser keeps nothing: save now.";
    $("#unsaved").hidden = !fields().some((name) => elements[name].value !== (shown[name] ?? ""));
    $("#unsaved [role=status]").textContent = `Not saved yet. ${how}`;
  };
  if (!$("[role=alert]")) {
    for (const [name, { value, base }] of Object.entries(readFrom("localStorage", key))) {
      if (!elements[name]) continue;
      elements[name].value = value;
      if (name in shown) shown[name] = base;
    }
    elements.shown.value = JSON.stringify(shown);
  }
  update(fields());
  form.addEventListener("input", ({ target }) => update(coupled(elements, target)));
  form.addEventListener("submit", () => write("sessionStorage", key, Object.fromEntries(
    fields().map((name) => [name, elements[name].value]))));
  $("#discard").addEventListener("click", () => {
    write("localStorage", key, {});
    location.assign(location.pathname);
  });
}

/** Remove this tab's saved drafts; other tabs' drafts stay. */
function forget(key) {
  const [draft, sent] = [readFrom("localStorage", key), readFrom("sessionStorage", key)];
  for (const [name, value] of Object.entries(sent)) if (draft[name]?.value === value) delete draft[name];
  write("localStorage", key, draft);
  write("sessionStorage", key, {});
}

/** Keep a solver's years and kind consistent: years make it a person; returns the changed fields. */
function coupled(elements, { name, value }) {
  const [part, id] = [name.split("-", 1)[0], name.slice(name.indexOf("-") + 1)];
  const [kind, years] = [elements[`kind-${id}`], elements[`years-${id}`]];
  if (part === "years" && value.trim()) kind.value = "person";
  if (part === "kind" && value === "system") {
    years.dataset.typed = years.value;
    years.value = "";
  } else if (part === "kind") years.value ||= years.dataset.typed ?? "";
  return kind ? [name, kind[0].name, years.name] : [name];
}
