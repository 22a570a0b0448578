// What pages ask of the server; no other module does.

const LONGEST_WAIT = 20_000;
// Browsers let no more than this outlive the page.
const MOST_KEPT_ALIVE = 60_000;

/** Send something, as JSON unless it is a file; gives {status, answer}, or null where no answer came. */
export async function send(url, content, options = {}) {
  const isFile = content instanceof Blob;
  const body = isFile ? content : JSON.stringify(content);
  const headers = { "Content-Type": isFile ? "application/octet-stream" : "application/json" };
  const keepalive = !isFile && new Blob([body]).size < MOST_KEPT_ALIVE;
  try {
    const response = await fetch(url, { method: "POST", headers, body, keepalive, ...options });
    return { status: response.status, answer: response.status === 204 ? {} : await response.json() };
  } catch {
    return null;
  }
}

/** Read a page; gives {status, page}, or null where no answer came. */
export async function read(url, options = {}) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(LONGEST_WAIT), ...options });
    // A report in the page has styles of its own, which only the page's own load allows.
    const text = (await response.text()).replace(/<template shadowrootmode.*?<\/template>/gs, "");
    return { status: response.status, page: new DOMParser().parseFromString(text, "text/html") };
  } catch {
    return null;
  }
}
