// What was understood of a question, and threads from it to the turns that it was taken from.

import { byId, drawn, element, entity, hidden, percent, scrollTo, words } from "./dom.js";

/** The slots of a representation as chips; `parts` that an earlier turn gave lead there. */
export function understood(turn) {
  const { representation: slots, history_used: parts = [], resolved_question: full } = turn;
  if (!slots) {
    const text = turn.structured_representation ?? "";
    return text ? frame([chip("understood as", words(text), parts)]) : null;
  }
  const own = (id) => parts.filter((part) => part.id === id);
  const named = [...slots.entities, ...slots.context].map(({ id }) => id);
  const rest = parts.filter((part) => part.id === undefined || !named.includes(part.id));
  const chips = [
    ...slots.context.map((item) => chip("in the context of", entity(item), own(item.id))),
    ...slots.entities.map((item) => chip("about", entity(item), own(item.id))),
    slots.predicate || rest.length ? chip("asks", words(slots.predicate || "…"), rest) : null,
    slots.answer_type ? chip("looks for", words(slots.answer_type), []) : null,
  ];
  const read = full && saysMore(full, turn.question) ? element("p", { class: "full" }, "Read as ", element("q", { dir: "auto" }, full)) : null;
  return frame(chips, [read, ...(turn.steps ?? []).filter((step) => step.answer && step.question).map(first)].filter(Boolean));
}

/** The answer to a question inside the question, with the evidence for it as a title. */
function first(step) {
  return element("p", { class: "full", title: step.evidence ?? "" }, "First: ", words(step.text), ": ", entity(step.answer));
}

/** Whether a text has words that another one has not, in their order; `read_differently` of the records is the same. */
function saysMore(text, other) {
  const words = (all) => all.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  const left = words(other)[Symbol.iterator]();
  return !words(text).every((word) => {
    for (let next = left.next(); !next.done; next = left.next()) if (next.value === word) return true;
    return false;
  });
}

function frame(chips, more = []) {
  return element("div", { class: "understood" }, element("ul", { class: "chips", "aria-label": "What was understood" }, chips), ...more);
}

function chip(kind, value, parts) {
  return element(
    "li",
    { class: parts.length ? "chip taken" : "chip" },
    element("span", { class: "kind" }, kind),
    " ",
    value,
    parts.map((part) => origin(part)),
  );
}

function origin(part) {
  const place = `${part.part} ${part.turn + 1}`;
  const sure = part.score === undefined ? "" : `, ${percent(part.score)} sure`;
  const follow = () => {
    const target = byId(`turn-${part.turn}`)?.querySelector("h2");
    if (target) {
      scrollTo(target.closest("li"));
      target.focus({ preventScroll: true });
    }
  };
  const glow = (isOn) => (event) => event.currentTarget.thread?.classList.toggle("near", isOn);
  const node = element(
    "button",
    {
      type: "button", class: "origin", title: `“${part.text}”${sure}`, onclick: follow,
      onmouseenter: glow(true), onmouseleave: glow(false), onfocus: glow(true), onblur: glow(false),
    },
    hidden("taken "), `from ${place}`, hidden(`: ${part.text}${sure}`),
  );
  node.takenFrom = part;
  return node;
}

/** A question with the words that later turns have taken of it. */
export function questionText(text, taken) {
  const spots = [];
  for (const wanted of taken) {
    const whole = text.toLowerCase().indexOf(wanted.toLowerCase());
    const own = whole >= 0 ? [wanted] : wanted.split(/\s+/);
    for (const word of own) {
      const start = word ? text.toLowerCase().indexOf(word.toLowerCase()) : -1;
      if (start >= 0) spots.push({ start, end: start + word.length, wanted });
    }
  }
  const nodes = [];
  let done = 0;
  for (const { start, end, wanted } of spots.sort((left, right) => left.start - right.start)) {
    if (start < done) continue;
    const node = element("span", { class: "source-word" }, text.slice(start, end));
    node.taken = wanted;
    nodes.push(text.slice(done, start), node);
    done = end;
  }
  return [...nodes, text.slice(done)];
}

/** The words of questions that later turns have taken, by the number of the turn. */
export function takenWords(turns) {
  const taken = new Map();
  for (const turn of turns) {
    for (const part of turn.history_used ?? []) {
      if (part.part === "question") taken.set(part.turn, [...new Set([...(taken.get(part.turn) ?? []), part.text])]);
    }
  }
  return taken;
}

const ROUND = 7;
const LANES = 4;

/** Draw a thread from every part that was taken to where it was taken from. */
export function drawThreads() {
  const board = byId("threads");
  const frameOf = byId("conversation").getBoundingClientRect();
  board.replaceChildren();
  let number = 0;
  for (const node of document.querySelectorAll(".origin")) {
    const target = spot(node.takenFrom);
    node.thread = null;
    if (!target || node.offsetParent === null) continue;
    const from = node.closest(".chip").getBoundingClientRect();
    const to = target.getBoundingClientRect();
    const step = frameOf.left < 40 && frameOf.width < 640 ? 3 : 6;
    const thread = route(
      from.left - frameOf.left + Math.min(from.width / 2, 34), from.bottom - frameOf.top,
      to.left - frameOf.left + Math.min(to.width / 2, 60), to.bottom - frameOf.top + 1,
      3 + (number % LANES) * step,
    );
    node.thread = drawn("g", { class: "thread" }, thread.map(([tag, attributes]) => drawn(tag, attributes)));
    board.append(node.thread);
    number += 1;
  }
}

function spot(part) {
  const turn = byId(`turn-${part.turn}`);
  if (!turn) return null;
  if (part.part === "answer") return turn.querySelector(".answer-label") ?? turn.querySelector("h2");
  const taken = [...turn.querySelectorAll("h2 .source-word")];
  return taken.find((node) => node.taken === part.text) ?? turn.querySelector("h2 bdi");
}

function route(x1, y1, x2, y2, lane) {
  const low = y1 + 9;
  const high = y2 + 3;
  const path =
    `M${x1} ${y1}V${low - ROUND}Q${x1} ${low} ${x1 - ROUND} ${low}H${lane + ROUND}Q${lane} ${low} ${lane} ${low - ROUND}` +
    `V${high + ROUND}Q${lane} ${high} ${lane + ROUND} ${high}H${x2}`;
  return [["path", { d: path }], ["circle", { cx: x2, cy: high, r: 2.6 }]];
}
