// Copy the messages and links of a page, or download them as a table.

import { $, $$, h } from "./dom.js";

const say = (text) => { $("#copied").textContent = text; };

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without TLS there is no clipboard API, but browsers can still copy a selection.
    const field = h("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    if (!done) {
      say("This browser blocks copying. Select the link and copy it yourself.");
      return;
    }
  }
  say(what);
}

/** Show a button that works only with scripts. */
function offer(button, act) {
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", act);
}

/** Add the buttons for copying and downloading. */
export function offerMessages() {
  const rows = $$(".messages > li").map((row) => ({
    row, id: row.dataset.id, name: row.dataset.judge, subject: row.dataset.subject,
    link: $(".copying input", row), message: $("textarea", row),
  }));
  for (const { row, id, subject, link, message } of rows) {
    link?.addEventListener("focus", () => link.select());
    offer($("[data-copy=link]", row), () => copy(link.value, `Link of ${id} copied.`));
    offer($("[data-copy=message]", row), () => copy(message.value, `Message to ${id} copied.`));
    message.addEventListener("input", () => {
      const parts = { subject, body: message.value };
      const query = Object.entries(parts).map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
      $("[data-mail]", row).href = `mailto:?${query}`;
    });
  }
  offer($("#copy-all"), () => {
    const lines = rows.map(({ id, name, link }) => [id, name, link.value].join("\t"));
    copy(lines.join("\n"), `${rows.length} links copied.`);
  });
  offer($("#download"), ({ currentTarget }) => download(rows, currentTarget.dataset.file));
}

function download(rows, file) {
  const hasLinks = rows.every(({ link }) => link);
  const lines = [
    ["judge", "name", ...(hasLinks ? ["link"] : []), "subject", "message"],
    ...rows.map(({ id, name, subject, link, message }) => (
      [id, name, ...(hasLinks ? [link.value] : []), subject, message.value])),
  ];
  const quoted = lines.map((line) => line.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(","));
  const href = URL.createObjectURL(new Blob([`${quoted.join("\r\n")}\r\n`], { type: "text/csv" }));
  h("a", { href, download: file }).click();
  URL.revokeObjectURL(href);
  say(hasLinks ? "Downloaded. The file contains private links: keep it safe." : "Downloaded.");
}
