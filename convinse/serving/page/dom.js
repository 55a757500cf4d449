// Elements and texts. Texts become text nodes, never markup.

const SVG = "http://www.w3.org/2000/svg";
const reduced = matchMedia("(prefers-reduced-motion: reduce)");

/** An element; attributes that are null or false are left out, functions listen (`onclick`), the rest are strings. */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An element of SVG. */
export function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const byId = (id) => document.getElementById(id);

/** Text of whoever wrote it, in its own direction. */
export const words = (text, kind = null) => element("bdi", { class: kind }, String(text));

export const hidden = (text) => element("span", { class: "hidden" }, text);

export function button(text, onclick, attributes = {}) {
  return element("button", { type: "button", class: "quiet", onclick, ...attributes }, text);
}

/** Tell those who do not see the page. */
export function announce(text) {
  byId("live").textContent = shortened(text, 300);
}

/** Say a line above the conversation; null takes it away. `retry` is what its button does. */
export function notice(text, retry = null, label = "Retry") {
  const place = byId("notice");
  place.hidden = text === null;
  place.replaceChildren(...(text === null ? [] : [element("span", {}, text), " ", retry ? button(label, retry, { class: "quiet small retry" }) : ""]));
}

/** An error as a sentence. */
export const said = (error) => `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}${error.after ? ` (in ${error.after} s)` : ""}`;

export function shortened(text, most) {
  const letters = Array.from(String(text));
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : String(text);
}

export function scrollTo(node, behavior = reduced.matches ? "instant" : "smooth") {
  node.scrollIntoView({ behavior, block: "start" });
}

/** A text with its spans marked; places count characters, as the server does, not the halves that JavaScript counts. */
export function marked(text, spans, kind = null) {
  const letters = Array.from(text);
  const parts = [];
  let done = 0;
  for (const { start, end } of [...spans].sort((left, right) => left.start - right.start)) {
    if (start < done || end > letters.length) continue;
    parts.push(letters.slice(done, start).join(""), element("mark", { class: kind }, letters.slice(start, end).join("")));
    done = end;
  }
  return [...parts, letters.slice(done).join("")];
}

const length = (text) => Array.from(text).length;

/** The spans of a whole that lie in a part of it, counted from the part's own beginning. */
export function within(spans, start, text) {
  const end = start + length(text);
  return spans
    .filter((span) => span.start < end && start < span.end)
    .map((span) => ({ start: Math.max(span.start, start) - start, end: Math.min(span.end, end) - start }));
}

/** A probability in words: `71 %`; what is not a probability as the number that it is. */
export function percent(score) {
  if (typeof score !== "number" || !Number.isFinite(score)) return "";
  if (score < 0 || score > 1) return score.toPrecision(3);
  if (score > 0.994 && score < 1) return "> 99 %";
  if (score > 0 && score < 0.01) return "< 1 %";
  return `${Math.round(score * 100)} %`;
}

export function outside(address, text, kind) {
  return element(
    "a",
    { href: address, target: "_blank", rel: "noopener noreferrer", class: kind, dir: "auto" },
    text,
    hidden(" (opens in a new tab)"),
  );
}

const WIKIDATA = "https://www.wikidata.org/wiki/";
const isItem = (id) => /^Q[1-9]\d{0,9}$/.test(id); // of Wikidata; what documents speak of has other ids

/** An entity, with its page at Wikidata where it has one. */
export function entity({ id, label }, content = label) {
  if (isItem(id)) return outside(WIKIDATA + id, content, "entity");
  if (/^P[1-9]\d*$/.test(id)) return outside(`${WIKIDATA}Property:${id}`, content, "entity");
  return element("bdi", {}, content);
}

/** Where more is told of an item; nothing for dates, numbers and words. */
export function pagesOf(id) {
  if (!isItem(id ?? "")) return [];
  return [
    outside(WIKIDATA + id, "Wikidata", "more"),
    outside(`${WIKIDATA}Special:GoToLinkedPage/enwiki/${id}`, "Wikipedia", "more"),
  ];
}
