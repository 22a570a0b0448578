// What pages ask of the server; no other module does.

const LONGEST_WAIT = 20_000;
const AS_JSON = { "Content-Type": "application/json" };

/** Send something, as JSON unless it is a file; gives {status, answer}, or null where no answer came. */
export async function send(url, content, { method = "POST", ...more } = {}) {
  const isFile = content instanceof Blob;
  const body = isFile ? content : JSON.stringify(content);
  const headers = isFile ? { "Content-Type": "application/octet-stream" } : AS_JSON;
  try {
    const response = await fetch(url, { method, headers, body, ...more });
    return { status: response.status, answer: response.status === 204 ? {} : await response.json() };
  } catch {
    return null;
  }
}

/** Read a page; gives {status, page}, or null where no answer came. */
export async function read(url, options = {}) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(LONGEST_WAIT), ...options });
    return { status: response.status, page: new DOMParser().parseFromString(await response.text(), "text/html") };
  } catch {
    return null;
  }
}
