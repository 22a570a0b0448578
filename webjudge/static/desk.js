// The dashboard: shows progress as it comes, times as people say them, and copies links.

const EVERY = 20_000;
const STEPS = [[60, "second"], [60, "minute"], [24, "hour"], [Infinity, "day"]];

/** Say times as "3 minutes ago", with the time itself at hand. */
function sayTimes(within) {
  const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  for (const time of within.querySelectorAll("time")) {
    let value = Math.round((new Date(time.dateTime) - Date.now()) / 1000);
    for (const [size, unit] of STEPS) {
      if (Math.abs(value) < size) {
        time.title ||= time.textContent;
        time.textContent = words.format(value, unit);
        break;
      }
      value = Math.round(value / size);
    }
  }
}

/** Fetch the tables anew; forms and what is open stay as they are. */
async function refresh(live) {
  if (document.hidden || live.contains(document.activeElement)) return;
  try {
    const response = await fetch(live.dataset.url);
    if (!response.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.getElementById("live");
    if (fresh) live.replaceChildren(...fresh.children);
    sayTimes(live);
  } catch {
    // The next time will do.
  }
}

const live = document.getElementById("live");
if (live) setInterval(() => refresh(live), EVERY);
sayTimes(document);

const copy = document.getElementById("copy");
if (copy && navigator.clipboard) {
  copy.hidden = false;
  copy.addEventListener("click", async () => {
    const rows = [...document.querySelectorAll("tbody tr")];
    const lines = rows.map((row) => [...row.cells].map((cell) => cell.textContent.trim()).join("\t"));
    await navigator.clipboard.writeText(lines.join("\n"));
    document.getElementById("copied").textContent = "Copied.";
  });
}
