// The dashboard: refreshes itself, shows times in the reader's own zone, copies links.
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
  }
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
    const answer = await fetch(location.pathname, { cache: "no-store" });
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

/** Offer to copy and to download the links that this page shows. */
function offerLinks() {
  const fields = [...document.querySelectorAll(".copying input")];
  const rows = fields.map((field) => [field.dataset.id, field.dataset.name, field.value]);
  for (const field of fields) {
    field.addEventListener("focus", () => field.select());
    const button = field.nextElementSibling;
    button.hidden = false;
    button.addEventListener("click", () => copy(field.value, `Link of ${field.dataset.id} copied.`));
  }
  const all = document.getElementById("copy-all");
  if (!all) return;
  all.hidden = false;
  all.addEventListener("click", () => {
    copy(rows.map((row) => row.join("\t")).join("\n"), `${rows.length} links copied.`);
  });
  const download = document.getElementById("download");
  download.hidden = false;
  download.addEventListener("click", () => {
    const quoted = [["judge", "name", "link"], ...rows].map((row) =>
      row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(","));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([`${quoted.join("\r\n")}\r\n`], { type: "text/csv" }));
    link.download = download.dataset.file;
    link.click();
    URL.revokeObjectURL(link.href);
    document.getElementById("copied").textContent = "Downloaded. The file contains private links: keep it safe.";
  });
}

showTimes(document);
offerLinks();
if (document.getElementById("updated")) {
  // "The study is closed." is said once, not again when the page is loaded anew.
  history.replaceState(null, "", location.pathname);
  setInterval(() => { if (!document.hidden) refresh(); }, EVERY);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
}
