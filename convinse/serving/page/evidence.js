// Evidences: a fact as a fact, a row as a row of its table, an entry of an infobox as such, a sentence with the answer marked.

import * as api from "./api.js";
import { openDocument, passages } from "./document.js";
import { announce, button, element, entity, marked, outside, pagesOf, shortened, within, words } from "./dom.js";

const SOURCES = { kb: "Fact", text: "Text", table: "Table", info: "Infobox" };
const MANY = { kb: ["fact", "facts"], text: ["sentence", "sentences"], table: ["table row", "table rows"], info: ["infobox entry", "infobox entries"] };
const OF_FILES = { name: "Value", many: ["named value", "named values"] }; // what an infobox entry is in files
const AT_ONCE = 20;

/** The name of a source for one or several of its evidences; of files or not. */
export const noun = (source, isOne, isOfFiles) => (isOfFiles && source === "info" ? OF_FILES.many : MANY[source])?.[isOne ? 0 : 1] ?? source;

/** How many there are of each source, in words. */
export function counted(counts, isOfFiles = false) {
  const order = [...Object.keys(MANY), ...Object.keys(counts).filter((source) => !MANY[source])];
  return order.filter((source) => counts[source]).map((source) => `${counts[source]} ${noun(source, counts[source] === 1, isOfFiles)}`);
}

const nameOf = (source, isOfFiles) => (isOfFiles && source === "info" ? OF_FILES.name : SOURCES[source] ?? source);

function badge({ source, citation }) {
  return element("span", { class: `badge ${SOURCES[source] ? source : ""}` }, nameOf(source, citation));
}

/** The evidences at some places of a turn, the first one open; `spans` are where they say the answer, numbers what sentences cite. */
export function evidenceList(evidences, places, spans = [], isNumbered = false) {
  return element(
    "ul",
    { class: "evidences" },
    places
      .filter((place) => evidences[place])
      .map((place, number) => card(evidences[place], spans.filter((span) => span.evidence === place), number === 0, isNumbered ? number + 1 : null)),
  );
}

function card(evidence, spans, isOpen, number) {
  const about = evidence.retrieved_for_entity?.label;
  const body = element("div", { class: "inside" });
  const fill = () => body.hasChildNodes() || body.append(...[structure(evidence, spans), foot(evidence, spans)].flat());
  const shown = element(
    "details",
    { class: `card ${evidence.source}`, open: isOpen, ontoggle: (event) => event.currentTarget.open && (fill(), toMark(body)) },
    element(
      "summary",
      {},
      number ? element("span", { class: "cite" }, `[${number}]`) : null,
      badge(evidence),
      about ? words(about, "about") : null,
      element("span", { class: "snippet", dir: "auto" }, excerpt(evidence.evidence_text, spans)),
    ),
    body,
  );
  if (isOpen) fill();
  return element("li", {}, shown);
}

/** Scroll a table that is wider than the window to the cell of the answer. */
function toMark(body) {
  const frame = body.querySelector(".frame");
  const cell = frame?.querySelector("mark")?.closest("td");
  if (cell) frame.scrollLeft = cell.offsetLeft - (frame.clientWidth - cell.offsetWidth) / 2;
}

/** The words around the first span. */
function excerpt(text, spans) {
  const letters = Array.from(text);
  const first = spans.length ? Math.min(...spans.map((span) => span.start)) : 0;
  const start = first > 90 ? first - 60 : 0;
  const cut = letters.slice(start, start + 240).join("");
  return [start ? "… " : "", marked(cut, within(spans, start, cut)), start + 240 < letters.length ? " …" : ""];
}

function structure(evidence, spans) {
  if (evidence.fact?.length > 2) return fact(evidence, spans);
  if (evidence.row?.cells?.length) return row(evidence, spans);
  if (evidence.attribute?.values) return attribute(evidence.attribute, spans);
  return element("p", { class: "sentence", dir: "auto" }, marked(evidence.evidence_text, spans));
}

function fact({ fact: parts, mentions = [] }, spans) {
  const said = (place) => {
    const mention = mentions[place / 2];
    const isMarked = mention?.id === parts[place].id && spans.some((span) => span.start === mention.start);
    return entity(parts[place], isMarked ? element("mark", {}, parts[place].label) : parts[place].label);
  };
  const qualifiers = [];
  for (let place = 3; place + 1 < parts.length; place += 2) {
    qualifiers.push(element("div", {}, element("dt", {}, entity(parts[place])), element("dd", {}, said(place + 1))));
  }
  return [
    element("p", { class: "fact" }, said(0), " ", element("span", { class: "predicate" }, entity(parts[1])), " ", said(2)),
    qualifiers.length ? element("dl", { class: "qualifiers", "aria-label": "Qualifiers" }, qualifiers) : null,
  ].filter(Boolean);
}

function attribute({ path, values }, spans) {
  const lines = values.map((value) =>
    element("li", { dir: "auto" }, value.header ? element("span", { class: "header" }, `${value.header}: `) : null, marked(value.text, within(spans, value.start, value.text))),
  );
  const names = path.map((name, place) => [place ? element("span", { class: "step", "aria-hidden": "true" }, "›") : null, words(name)]);
  return element("dl", { class: "entry-of-box" }, element("dt", {}, names), element("dd", {}, element("ul", {}, lines)));
}

function row({ row: own, evidence_text: text }, spans) {
  const frame = element("div", { class: "frame", tabindex: "0", role: "region", "aria-label": `Table: ${own.caption || own.section || "row"}: ${shortened(text, 60)}` });
  const titles = [own.section, own.part, own.caption].filter((title, place, all) => title && all.indexOf(title) === place);
  const caption = titles.length ? element("caption", { dir: "auto" }, titles.join(" › ")) : null;
  const cells = own.cells.map((cell) => ({ ...cell, content: marked(cell.text, within(spans, cell.start, cell.text)) }));
  frame.append(grid(caption, [{ number: own.number, cells }], null));
  if (own.page === undefined || own.table === undefined) return frame;
  const more = button("Show the whole table", async () => {
    more.disabled = true;
    try {
      const whole = await api.table(own.page, own.table);
      const here = cells.map((cell) => [cell.column, cell.content]);
      frame.replaceChildren(grid(caption, together(whole.rows, own.number, new Map(here)), own.number));
      frame.classList.add("whole");
      const current = frame.querySelector("[aria-current]");
      if (current) frame.scrollTop = current.offsetTop - frame.clientHeight / 2;
      const left = whole.total - whole.rows.length;
      announce(`The whole table: ${whole.total} rows.`);
      more.replaceWith(left > 0 ? element("p", { class: "note" }, `${left} further rows are not shown.`) : "");
      frame.focus({ preventScroll: true });
    } catch (error) {
      more.disabled = false;
      more.textContent = `${error.message} Try again`;
    }
  }, { class: "quiet small" });
  return [frame, more];
}

/** The rows of a table; pieces of one that was too long are one again. The row that is shown keeps its marks. */
function together(rows, number, contents) {
  const byNumber = new Map();
  for (const row of rows) {
    const known = byNumber.get(row.number) ?? { number: row.number, cells: [] };
    known.cells.push(...row.cells.map((cell) => ({ ...cell, content: row.number === number ? contents.get(cell.column) : undefined })));
    byNumber.set(row.number, known);
  }
  return [...byNumber.values()];
}

function grid(caption, rows, current) {
  const headers = new Map();
  for (const cell of rows.flatMap((row) => row.cells)) if (!headers.get(cell.column)) headers.set(cell.column, cell.header);
  const columns = [...headers.keys()].sort((left, right) => left - right);
  const head = [...headers.values()].some(Boolean)
    ? element("thead", {}, element("tr", {}, columns.map((column) => (headers.get(column) ? element("th", { scope: "col", dir: "auto" }, headers.get(column)) : element("td")))))
    : null;
  const lines = rows.map((line) => {
    const cells = new Map(line.cells.map((cell) => [cell.column, cell]));
    const isCurrent = current !== null && line.number === current;
    return element(
      "tr",
      { "aria-current": isCurrent ? "true" : null },
      columns.map((column) => element("td", { dir: "auto" }, cells.get(column)?.content ?? cells.get(column)?.text ?? "")),
    );
  });
  return element("table", {}, caption, head, element("tbody", {}, lines));
}

function foot(evidence, spans) {
  if (evidence.citation) return source(evidence, spans);
  if (evidence.origin) return element("p", { class: "foot" }, origin(evidence.origin));
  const about = evidence.retrieved_for_entity;
  const pages = pagesOf(about?.id);
  return pages.length ? element("p", { class: "foot" }, words(shortened(about.label, 80)), pages) : [];
}

/** Where an evidence of a document stands: a button that shows it among the passages around it, the answer marked. */
function source({ citation, evidence_text: text }, spans) {
  const letters = Array.from(text);
  const answers = new Set(spans.map(({ start, end }) => letters.slice(start, end).join("")));
  const around = element("div", { hidden: true });
  const opener = button(words(cited(citation)), async () => {
    const isOpen = opener.getAttribute("aria-expanded") === "true";
    if (!isOpen) {
      try {
        const whole = button("Open the whole file", () => openDocument(citation, text, answers).catch((error) => whole.replaceWith(element("p", { class: "note", role: "alert" }, error.message))), { class: "quiet small" });
        around.replaceChildren(passages((await api.passages(citation.file, text)).passages, answers), whole);
      } catch (error) {
        around.replaceChildren(element("p", { class: "note", role: "alert" }, error.message));
      }
    }
    around.hidden = isOpen;
    opener.setAttribute("aria-expanded", String(!isOpen));
  }, { class: "quiet small cited", "aria-expanded": "false", title: "Show it in the file" });
  return [opener, around];
}

/** Where an evidence that was fetched stands, and in which revision; an address that is none of the web leads nowhere. */
function origin({ url, revision_url, date }) {
  const safe = (address) => (/^https?:\/\//.test(address) ? address : null);
  return [outside(safe(url), `as of ${date}`, "more"), outside(safe(revision_url), "revision", "more")];
}

/** Where an evidence of a document stands. */
function cited({ file, headings, line, page }) {
  const lines = /\.(xls[xm]?|xlt[xm]?|ods)$/i.test(file) ? "row" : "line";
  const pages = /\.(pp[ts][xm]|potx|odp)$/i.test(file) ? "slide" : "page";
  return [file, headings.join(" › "), line ? `${lines} ${line}` : page ? `${pages} ${page}` : ""].filter(Boolean).join(", ");
}

/** All evidences of a turn, behind a line that says how many there are of each source. */
export function allEvidences(turn) {
  const evidences = turn.top_evidences ?? [];
  const isOfFiles = evidences.some(({ citation }) => citation);
  const counts = {};
  for (const { source } of evidences) counts[source] = (counts[source] ?? 0) + 1;
  const inside = element("div", { class: "everything" });
  let chosen = null;
  let shown = AT_ONCE;
  const fill = () => {
    const places = evidences.map((_, place) => place).filter((place) => chosen === null || evidences[place].source === chosen);
    const filters = [[null, "All", evidences.length], ...Object.keys({ ...SOURCES, ...counts }).filter((source) => counts[source]).map((source) => [source, nameOf(source, isOfFiles), counts[source]])].map(
      ([source, name, count]) =>
        button(`${name} ${count}`, () => choose(source), { class: `quiet filter ${source ?? ""}`, "aria-pressed": String(chosen === source), "data-source": source ?? "all" }),
    );
    const list = evidenceList(evidences, places.slice(0, shown), spansOf(turn, 0));
    list.querySelector("details")?.removeAttribute("open");
    const rest = places.length - shown;
    inside.replaceChildren(
      element("div", { class: "filters", role: "group", "aria-label": "Only of one source" }, filters),
      list,
      rest > 0 ? button(`Show ${Math.min(rest, AT_ONCE)} more of ${rest}`, () => { shown += AT_ONCE; refill(".filter[aria-pressed=true]"); }) : "",
    );
  };
  const refill = (selector) => { fill(); inside.querySelector(selector)?.focus(); };
  const choose = (source) => { chosen = source; shown = AT_ONCE; refill(`[data-source="${source ?? "all"}"]`); };
  return element(
    "details",
    { class: "all", ontoggle: (event) => event.currentTarget.open && !inside.hasChildNodes() && fill() },
    element("summary", {}, `All evidence (${evidences.length})`, " ", element("span", { class: "counts" }, counted(counts, isOfFiles).map((text) => element("span", {}, text)))),
    inside,
  );
}

export const spansOf = (turn, rank) => turn.pred_answers?.[rank]?.spans ?? [];
