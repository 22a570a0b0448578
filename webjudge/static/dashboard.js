// The dashboard: refreshes itself, shows times in the reader's own zone, asks in dialogs, copies
// messages.
// Everything else works without scripts.

const EVERY = 20_000;
const LIVE = "[data-live]";

/** Show times in the reader's zone: clocks as text, "3 minutes ago" with the time at hand. */
function showTimes(within) {
  for (const time of within.querySelectorAll("time")) {
    const local = new Date(time.dateTime).toLocaleString(undefined, {
      dateStyle: "medium", timeStyle: "medium",
    });
    if (time.hasAttribute("data-clock")) time.textContent = local;
    else time.title = local;
    if (time.hasAttribute("data-short")) time.textContent = short(new Date(time.dateTime));
  }
}

/** A day and a time, such as "Today 14:32". */
function short(date) {
  const clock = date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
  const isToday = date.toDateString() === new Date().toDateString();
  return `${isToday ? "Today" : date.toLocaleDateString(undefined, { day: "numeric", month: "short" })} ${clock}`;
}

/**
 * Make one tree look like another, changing as little as possible: what stays the same is not
 * touched, so that focus, selection, scrolling and what is opened stay too.
 */
function become(old, fresh) {
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName || old.id !== fresh.id) {
    old.replaceWith(fresh);
    return;
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
    return;
  }
  for (const { name, value } of [...fresh.attributes]) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  }
  const [before, after] = [[...old.childNodes], [...fresh.childNodes]];
  after.forEach((child, i) => (i < before.length ? become(before[i], child) : old.append(child)));
  before.slice(after.length).forEach((child) => child.remove());
}

/** Show what the server says now. */
async function refresh() {
  const trouble = document.getElementById("trouble");
  let problem = "";
  try {
    const answer = await fetch(location.pathname + location.search, { cache: "no-store" });
    if (answer.ok) show(await answer.text());
    else if (answer.status === 401) {
      problem = "You are logged out, or your link was replaced. Open your link again.";
    } else problem = "Server error. This page may be out of date.";
  } catch {
    problem = "No response from the server. This page may be out of date. Retrying…";
  }
  // Said once, not at each refresh.
  if (trouble.textContent !== problem) trouble.textContent = problem;
  trouble.hidden = !problem;
}

function show(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  showTimes(page);
  const focused = document.activeElement?.id;
  for (const part of document.querySelectorAll(LIVE)) {
    const fresh = page.getElementById(part.id);
    if (fresh) become(part, document.adoptNode(fresh));
  }
  // A judge or group came or went with all its rows.
  const known = [...document.querySelectorAll(LIVE)].map((part) => part.id).join();
  const wanted = [...page.querySelectorAll(LIVE)].map((part) => part.id);
  if (wanted.some((id) => !known.split(",").includes(id))) location.reload();
  if (focused && document.activeElement === document.body) {
    document.getElementById(focused)?.focus({ preventScroll: true });
  }
}

async function copy(text, what) {
  const status = document.getElementById("copied");
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without TLS browsers have no clipboard for pages, but they still copy what is selected.
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    if (!done) {
      status.textContent = "This browser blocks copying. Select the link and copy it yourself.";
      return;
    }
  }
  status.textContent = what;
}

/** Offer to copy and to download the messages and links that this page shows. */
function offerMessages() {
  const rows = [...document.querySelectorAll(".messages > li")].map((row) => ({
    row, id: row.dataset.id, name: row.dataset.judge, subject: row.dataset.subject,
    link: row.querySelector(".copying input"), message: row.querySelector("textarea"),
  }));
  for (const { row, id, subject, link, message } of rows) {
    link?.addEventListener("focus", () => link.select());
    for (const button of row.querySelectorAll("[data-copy]")) {
      button.hidden = false;
      button.addEventListener("click", () => {
        if (button.dataset.copy === "link") copy(link.value, `Link of ${id} copied.`);
        else copy(message.value, `Message to ${id} copied.`);
      });
    }
    message.addEventListener("input", () => {
      const parts = [["subject", subject], ["body", message.value]];
      const query = parts.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
      row.querySelector("[data-mail]").href = `mailto:?${query}`;
    });
  }
  offer("copy-all", () => {
    const lines = rows.map(({ id, name, link }) => [id, name, link.value].join("\t"));
    copy(lines.join("\n"), `${rows.length} links copied.`);
  });
  offer("download", (button) => {
    const hasLinks = rows.every(({ link }) => link);
    const lines = rows.map(({ id, name, subject, link, message }) =>
      [id, name, ...(hasLinks ? [link.value] : []), subject, message.value]);
    const head = ["judge", "name", ...(hasLinks ? ["link"] : []), "subject", "message"];
    const quoted = [head, ...lines].map((line) => line.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(","));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([`${quoted.join("\r\n")}\r\n`], { type: "text/csv" }));
    link.download = button.dataset.file;
    link.click();
    URL.revokeObjectURL(link.href);
    document.getElementById("copied").textContent = hasLinks
      ? "Downloaded. The file contains private links: keep it safe." : "Downloaded.";
  });
}

/** Show a button that works only with scripts. */
function offer(id, act) {
  const button = document.getElementById(id);
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", () => act(button));
}

/** Ask a question of another page in a dialog on this one; where that fails, go to its page. */
async function ask(address, opener) {
  let question = null;
  try {
    const answer = await fetch(address, { cache: "no-store" });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    question = answer.ok ? page.querySelector(".question") : null;
  } catch {
    // The page itself says what is wrong.
  }
  if (!question) {
    location.assign(address);
    return;
  }
  document.querySelector("dialog.asks")?.remove();
  const dialog = document.createElement("dialog");
  dialog.className = "asks";
  const title = document.createElement("h2");
  title.id = "question-title";
  title.textContent = question.querySelector("h1").textContent;
  question.querySelector("h1").replaceWith(title);
  dialog.setAttribute("aria-labelledby", title.id);
  dialog.append(document.adoptNode(question));
  document.body.append(dialog);
  requireWord(dialog);
  dialog.addEventListener("close", () => {
    dialog.remove();
    opener?.focus();
  });
  dialog.showModal();
  dialog.querySelector("input[type=text]")?.focus();
}

/** Enable the button of a question only once its word is typed. */
function requireWord(within) {
  const field = within.querySelector("[data-word]");
  if (!field) return;
  const button = field.form.querySelector("button");
  const check = () => {
    button.disabled = field.value.trim().toLowerCase() !== field.dataset.word.toLowerCase();
  };
  field.addEventListener("input", check);
  check();
}

document.addEventListener("click", (event) => {
  const target = event.target.closest("[data-ask], [data-cancel]");
  const dialog = event.target.closest("dialog");
  // A menu closes by a click anywhere else, and by a click on what it offers.
  for (const menu of document.querySelectorAll(".more[open]")) {
    if (!menu.contains(event.target) || target) menu.open = false;
  }
  if (!target || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (target.hasAttribute("data-cancel")) {
    if (!dialog) return;
    event.preventDefault();
    dialog.close();
    return;
  }
  event.preventDefault();
  const { form } = target;
  const address = form ? `${form.action}?${new URLSearchParams(new FormData(form))}` : target.href;
  const menu = target.closest(".more");
  ask(address, menu ? menu.querySelector("summary") : target);
});
document.addEventListener("keydown", (event) => {
  const menu = document.activeElement?.closest(".more[open]");
  if (event.key !== "Escape" || !menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

/**
 * Keep what is typed in a form until it is saved: in this browser, for all tabs, over reloads.
 *
 * Beside each value stands what its page showed, so that the server sees whether another tab has
 * saved the same field in between.
 */
function keepDraft() {
  const form = document.querySelector("form[data-draft]");
  const saved = document.querySelector("[data-saved]");
  const key = `quem-draft:${form?.dataset.draft ?? saved?.dataset.saved}`;
  const read = (storage) => {
    try {
      return JSON.parse(storage.getItem(key)) ?? {};
    } catch {
      return {};
    }
  };
  const write = (storage, draft) => {
    try {
      if (Object.keys(draft).length) storage.setItem(key, JSON.stringify(draft));
      else storage.removeItem(key);
      return true;
    } catch {
      return false;
    }
  };
  if (saved) {
    // Saved is what this tab sent, not what others hold.
    const [draft, sent] = [read(localStorage), read(sessionStorage)];
    for (const [name, value] of Object.entries(sent)) if (draft[name]?.value === value) delete draft[name];
    write(localStorage, draft);
    write(sessionStorage, {});
  }
  if (!form) return;
  const shown = JSON.parse(form.elements.shown.value);
  const fields = () => [...new Set(new FormData(form).keys())].filter((name) => name !== "shown");
  const note = document.getElementById("unsaved");
  const update = (names) => {
    const draft = read(localStorage);
    for (const name of names) {
      const [value, base] = [form.elements[name].value, shown[name] ?? ""];
      if (value === base) delete draft[name];
      else draft[name] = { value, base };
    }
    const works = write(localStorage, draft);
    note.hidden = !fields().some((name) => form.elements[name].value !== (shown[name] ?? ""));
    const kept = works ? "This browser keeps what you typed." : "This browser keeps nothing: save now.";
    note.querySelector("[role=status]").textContent = `Not saved yet. ${kept}`;
  };
  if (!document.querySelector("[role=alert]")) {
    for (const [name, { value, base }] of Object.entries(read(localStorage))) {
      if (!form.elements[name]) continue;
      form.elements[name].value = value;
      if (name in shown) shown[name] = base;
    }
    form.elements.shown.value = JSON.stringify(shown);
  }
  update(fields());
  form.addEventListener("input", ({ target }) => {
    const [part, id] = [target.name.split("-", 1)[0], target.name.slice(target.name.indexOf("-") + 1)];
    const [kind, years] = [form.elements[`kind-${id}`], form.elements[`years-${id}`]];
    if (part === "years" && target.value.trim()) kind.value = "person";
    if (part === "kind" && target.value === "system") {
      years.dataset.typed = years.value;
      years.value = "";
    } else if (part === "kind") years.value ||= years.dataset.typed ?? "";
    update(kind ? [target.name, kind[0].name, years.name] : [target.name]);
  });
  form.addEventListener("submit", () => write(sessionStorage, Object.fromEntries(fields().map(
    (name) => [name, form.elements[name].value]))));
  document.getElementById("discard").addEventListener("click", () => {
    write(localStorage, {});
    location.assign(location.pathname);
  });
}

requireWord(document);
keepDraft();
showTimes(document);
offerMessages();
if (document.getElementById("updated")) {
  // "The study is closed." is said once, not again when the page is loaded anew.
  const here = new URL(location.href);
  here.searchParams.delete("said");
  here.searchParams.delete("kept");
  history.replaceState(null, "", here.pathname + here.search);
  // Not while a question is open: news might load the page anew, and what is typed would be lost.
  setInterval(() => { if (!document.hidden && !document.querySelector("dialog")) refresh(); }, EVERY);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
  window.addEventListener("focus", () => { if (!document.querySelector("dialog")) refresh(); });
}
