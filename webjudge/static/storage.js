// What this browser keeps. It may be full or forbidden: pages work without.

/** What is kept under a key, or null. */
export function kept(key, storage = "localStorage") {
  try {
    return globalThis[storage].getItem(key);
  } catch {
    return null;
  }
}

/** Keep a text, or with null forget what was kept; gives whether that worked. */
export function keep(key, text, storage = "localStorage") {
  try {
    if (text === null) globalThis[storage].removeItem(key);
    else globalThis[storage].setItem(key, text);
    return true;
  } catch {
    return false;
  }
}
