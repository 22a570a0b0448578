// Translations: scripts use the English text as the key, and the page includes the catalog.

const source = globalThis.document?.getElementById("words");
const catalog = source ? JSON.parse(source.textContent) : {};
const language = globalThis.document?.documentElement.lang || "en";
const plurals = new Intl.PluralRules(language);
const ordinals = new Intl.PluralRules(language, { type: "ordinal" });

const filled = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);

/** Translate with placeholders: t("{n} of {all}", { n, all }). */
export const t = (text, values = {}) => filled(catalog[text] ?? text, values);

/** Translate a singular or plural; {n} is the number. */
export function tn(one, several, n, values = {}) {
  const forms = catalog[one];
  const text = forms ? forms[plurals.select(n)] ?? forms.other : [several, one][Number(n === 1)];
  return filled(text, { n: number(n), ...values });
}

export const number = (n) => n.toLocaleString(language);
export const roughly = (n) => new Intl.NumberFormat(
  language, { notation: "compact", maximumFractionDigits: 1 },
).format(n).toLowerCase();

const CLOCK = { hourCycle: "h23" };

export const time = (date) => date.toLocaleTimeString(language, { ...CLOCK, hour: "2-digit", minute: "2-digit" });
export const dateTime = (date) => date.toLocaleString(language, { ...CLOCK, dateStyle: "long", timeStyle: "short" });

/** Join words: "A, B, and C". */
export const listed = (words) => new Intl.ListFormat(language, { type: "conjunction" }).format(words);

/** The n-th: "2nd". */
export function ordinal(n) {
  const forms = { one: t("{n}st", { n }), two: t("{n}nd", { n }), few: t("{n}rd", { n }) };
  return forms[ordinals.select(n)] ?? t("{n}th", { n });
}
