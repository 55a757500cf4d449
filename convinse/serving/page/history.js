// The conversations that this browser keeps: a list to open, rename and delete them, also where the server has lost them.

import { button, byId, element, hidden, shortened, words } from "./dom.js";

const PREFIX = "conversation ";
const MOST = 100; // conversations
const ANSWERS = 3; // of a turn
const MOST_LETTERS = 2_000_000; // of all of them; browsers keep about five million

/** The conversation that the address names, and the number of a turn; null where there is none. */
export function named() {
  const parts = /^#(conv_[\w-]+)(?:\/(\d+))?$/.exec(location.hash);
  return parts && { id: parts[1], number: parts[2] ? Number(parts[2]) : null };
}

function record(key) {
  try {
    const text = localStorage.getItem(key);
    const value = JSON.parse(text);
    return Array.isArray(value?.questions) ? { ...value, id: key.slice(PREFIX.length), letters: text.length } : null;
  } catch {
    return null; // storage is forbidden, or it is of another version
  }
}

/** All kept conversations, the latest first. */
function all() {
  let keys = [];
  try {
    keys = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
  } catch {
    // storage is forbidden
  }
  return keys.map(record).filter(Boolean).sort((left, right) => right.when - left.when);
}

/** A kept conversation by its id, or by one that it had at the server before. */
export const kept = (id) => record(PREFIX + id) ?? all().find(({ earlier }) => earlier?.includes(id)) ?? null;

/** Keep a conversation; `before` is the id that it had at the server until now. The oldest ones make room. */
export function keep(id, turns, more, before = id) {
  const old = kept(before);
  const earlier = [...(old?.earlier ?? []), ...(before && before !== id ? [before] : [])];
  const text = JSON.stringify({ ...more, title: old?.title, when: Date.now(), earlier, questions: turns.map(trimmed) });
  if (text.length > MOST_LETTERS) return;
  const others = all().filter((other) => other.id !== id && other.id !== before);
  let letters = others.reduce((sum, other) => sum + other.letters, text.length);
  while (others.length && (others.length >= MOST || letters > MOST_LETTERS)) {
    letters -= others.at(-1).letters;
    drop(others.pop().id);
  }
  if (before !== id) drop(before);
  store(id, text);
}

function store(id, text) {
  try {
    localStorage.setItem(PREFIX + id, text);
  } catch {
    // storage is forbidden or full: the conversation lasts as long as the server has it
  }
}

export function drop(id) {
  try {
    localStorage.removeItem(PREFIX + id);
  } catch {
    // nothing was kept
  }
}

/** A turn with its first answers and those of a list, and with the evidences that they rest on. */
function trimmed(turn) {
  const { top_evidences: evidences = [], attribution } = turn;
  const answers = (turn.pred_answers ?? []).filter((answer, rank) => rank < ANSWERS || answer.list);
  const places = [...new Set([...answers, ...(attribution ?? [])].flatMap((part) => part.evidences ?? part.evidence ?? []))];
  const moved = (part) => ({ ...part, evidence: places.indexOf(part.evidence) });
  return {
    ...turn,
    pred_answers: answers.map((answer) => ({ ...answer, evidences: answer.evidences?.map((place) => places.indexOf(place)), spans: answer.spans?.filter((span) => places.includes(span.evidence)).map(moved) })),
    top_evidences: places.map((place) => evidences[place]),
    attribution: attribution?.map(moved),
    parts: turn.parts?.map(trimmed),
  };
}

const titleOf = ({ title, questions }) => title || shortened(questions[0]?.question ?? "Nothing asked yet", 80);

/** What is searched of a conversation: its name, questions and answers. */
const wordsOf = ({ title, questions }) =>
  [title, ...questions.flatMap(({ question, pred_answers: answers = [] }) => [question, ...answers.map(({ answer }) => answer?.label)])].join("\n").toLowerCase();

/** Show the list; `open` is called with the id of a conversation, `remove` before it is forgotten. */
export function showHistory(current, open, remove) {
  const again = () => showHistory(current, open, remove);
  const search = byId("search");
  search.oninput = again;
  const wanted = search.value.trim().toLowerCase();
  const records = all();
  const items = records.filter((own) => !wanted || wordsOf(own).includes(wanted)).map((own) => {
    const title = titleOf(own);
    const opener = button([words(title, "title"), element("small", {}, `${new Date(own.when).toLocaleDateString()}, ${own.questions.length === 1 ? "1 question" : `${own.questions.length} questions`}`)], () => open(own.id), { class: "kept", "aria-current": own.id === current ? "page" : null });
    const rename = button(["Rename", hidden(` ${title}`)], () => {
      const line = element("input", { type: "text", maxlength: 80, dir: "auto", "aria-label": "New name", value: title });
      const form = element("form", {}, line, element("button", { class: "quiet small" }, "Save"));
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        const { id, letters, ...rest } = own;
        store(id, JSON.stringify({ ...rest, title: line.value.trim() }));
        again();
      });
      item.replaceChildren(form);
      line.select();
    }, { class: "quiet small" });
    const remover = confirmed("Delete", title, () => {
      remove(own.id);
      drop(own.id);
      again();
      byId("import").focus();
    });
    const item = element("li", {}, opener, rename, remover);
    return item;
  });
  byId("history").querySelector("ul").replaceChildren(...items);
  search.hidden = records.length < 2;
  byId("none-kept").hidden = items.length > 0;
  byId("none-kept").textContent = records.length ? "No conversation has these words." : "Nothing was asked yet.";
  const everything = () => {
    for (const { id } of all()) {
      remove(id);
      drop(id);
    }
    again();
  };
  byId("clear").replaceChildren(items.length ? confirmed("Delete all", "", everything) : "");
}

/** A button that does something when it is pressed for the second time. */
function confirmed(text, about, act) {
  const node = button([text, hidden(` ${about}`)], () => {
    if (node.classList.contains("sure")) act();
    node.classList.add("sure");
    node.firstChild.data = "Delete for good?";
  }, { class: "quiet small" });
  return node;
}
