// All requests to the server.

const LONGEST_WAIT = 20_000;
// Browsers' limit of requests that outlive the page (keepalive).
const MOST_KEPT_ALIVE = 60_000;

/** Send JSON or a file; returns {status, answer}, or null without a response. */
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

/** Fetch a page; returns {status, page}, or null without a response. */
export async function read(url, options = {}) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(LONGEST_WAIT), ...options });
    // An embedded report has inline styles, which only a full page load allows.
    const text = (await response.text()).replace(/<template shadowrootmode.*?<\/template>/gs, "");
    return { status: response.status, page: new DOMParser().parseFromString(text, "text/html") };
  } catch {
    return null;
  }
}
