// The page: a conversation, what is asked of it, and what is known of it at the server.

import * as api from "./api.js";
import "./access.js";
import { input, ready, takeKeys, write } from "./composer.js";
import { announce, button, byId, notice, said, scrollTo, shortened, words } from "./dom.js";
import { collection, fileNames, settled, showFiles, takeFiles } from "./files.js";
import { drop, keep, kept, named, showHistory } from "./history.js";
import { showServer, showSources, sources, speakOfFiles, takeSettings } from "./settings.js";
import { drawExamples } from "./start.js";
import { conversationIn, download, takeFile } from "./transfer.js";
import { placed, told, turnView } from "./turn.js";
import { drawThreads, takenWords } from "./understood.js";

const state = {
  id: null, // of the conversation at the server; null until the first question, and where the server has lost it
  name: null, // the id in the address, by which the browser keeps the conversation
  entries: [], // a question each, with its turn, or with what is under way or went wrong
  suggested: [], // questions of an example that are still to be asked
  editing: null, // the entry whose question is being changed
  asking: null, // the AbortController of what is under way
  filesOf: null, // the conversation at the server whose files the next one is about, too
  start: null, // examples, sources and uploads of the server
  examples: null, // of the conversation's files; null: it has none
};
const suggestion = byId("suggestion");

// -- what is shown ----------------------------------------------------------------------------------------------------

const shownTurns = new Map(); // from entries to what is drawn of them: an opened evidence stays open

function show() {
  const taken = takenWords(turnsOf());
  const list = byId("turns");
  state.entries.forEach((entry, place) => {
    const isLast = place === state.entries.length - 1;
    const key = `${place} ${entry.version}`;
    if (shownTurns.get(entry)?.key !== key) {
      const node = turnView(entry, place, actions);
      const old = shownTurns.get(entry)?.node;
      if (old?.parentNode) old.replaceWith(node);
      else list.append(node);
      shownTurns.set(entry, { key, node });
    }
    placed(shownTurns.get(entry).node, entry, taken.get(entry.turn?.turn) ?? [], isLast);
  });
  for (const [entry, { node }] of shownTurns) {
    if (!state.entries.includes(entry)) {
      node.remove();
      shownTurns.delete(entry);
    }
  }
  byId("start").hidden = state.entries.length > 0;
  byId("export").disabled = !state.entries.some((entry) => entry.turn);
  document.title = state.entries.length ? `${shortened(state.entries[0].question, 60)} – convinse` : "convinse";
  showSuggestion();
  drawThreads();
}

function changed(entry) {
  entry.version = (entry.version ?? 0) + 1;
  show();
}

function showSuggestion() {
  const [next] = state.suggested;
  suggestion.hidden = !next || state.asking !== null;
  suggestion.replaceChildren(next ? button(["Ask next: ", words(next)], () => submit(next), { class: "quiet small suggested" }) : "");
  byId("turns").lastElementChild?.querySelector("article").append(suggestion);
}

function showExamples() {
  drawExamples(state.examples ?? state.start?.examples ?? [], ([first, ...rest]) => {
    state.suggested = rest;
    submit(first);
  });
}

// -- what is asked ----------------------------------------------------------------------------------------------------

async function submit(question) {
  if (state.asking) {
    announce("The last question is still being answered.");
    return;
  }
  if (!question.trim()) return;
  if (state.editing) return edited(question.trim());
  if (question === state.suggested[0]) state.suggested.shift();
  const entry = { question: question.trim() };
  state.entries.push(entry);
  write("");
  ready();
  notice(null);
  await answer(entry, { question: entry.question });
}

/** Ask a changed question in the place of an earlier one; those behind it are taken back. */
async function edited(question) {
  const entry = state.editing;
  try {
    while (state.entries.at(-1) !== entry) await takeBack();
  } catch (error) {
    show();
    notice(said(error));
    return;
  }
  edit(null);
  notice(null);
  entry.question = question;
  await answer(entry, { question, again: true });
}

/** Put the question of an entry into the line, to be changed; null ends it. */
function edit(entry) {
  state.editing = entry;
  const behind = entry ? state.entries.length - 1 - state.entries.indexOf(entry) : 0;
  byId("editing").hidden = entry === null;
  byId("editing-text").textContent = `This changes question ${state.entries.length - behind}${behind ? ` and removes the ${behind === 1 ? "question" : `${behind} questions`} after it` : ""}.`;
  write(entry?.question ?? "");
  input.focus();
}

async function takeBack() {
  const entry = state.entries.at(-1);
  if (entry.turn) await api.back(await begun());
  state.entries.pop();
  store();
  return entry;
}

const turnsOf = () => state.entries.map(({ turn }) => turn).filter(Boolean);

function store() {
  if (turnsOf().length) keep(state.name, turnsOf(), { sources: sources(), files: fileNames(), collection: collection() });
  else drop(state.name);
}

/** Ask what a request says, for an entry; what it had before stays where that fails. */
async function answer(entry, request) {
  if (!sources()) {
    entry.failure = { text: "No source is switched on; switch one on and retry." };
    entry.request = request;
    changed(entry);
    return;
  }
  const control = new AbortController();
  state.asking = control;
  entry.pending = { stages: {} };
  entry.failure = null;
  entry.request = request;
  document.body.classList.add("asking");
  changed(entry);
  scrollTo(byId("turns").lastElementChild, "instant");
  announce("Working on it.");
  try {
    const turn = await asked(request, control.signal, (stage) => {
      entry.pending.stages[stage.stage] = stage;
      changed(entry);
    });
    entry.turn = turn;
    entry.question = turn.question;
    store();
    announce(told(turn));
  } catch (error) {
    fail(entry, error);
  } finally {
    state.asking = null;
    entry.pending = null;
    document.body.classList.remove("asking");
    changed(entry);
    if (entry.turn) scrollTo(byId("turns").lastElementChild, "instant");
  }
  if (state.entries.includes(entry) && entry.turn && !isInStep()) await open(state.id);
}

async function asked(request, signal, tell) {
  await settled();
  signal.throwIfAborted();
  return api.ask(await begun(), { ...request, sources: sources() }, tell, signal);
}

let beginning = null; // a question and a file may begin the same conversation

/** The id of the conversation at the server, where it is begun if it is not there. */
async function begun() {
  if (state.id === null) {
    const questions = turnsOf();
    const conversation = questions.length ? { conv_id: "page", questions } : undefined;
    const shared = state.filesOf ? { files_of: state.filesOf } : {};
    beginning ??= api.begin({ sources: sources(), conversation, ...shared }).finally(() => (beginning = null));
    hold(await beginning);
  }
  return state.id;
}

/** Take over the files of the conversation: what they suggest is asked. */
function hear({ files, examples }) {
  state.examples = files.length ? examples : null;
  state.suggested = state.entries.length && files.length ? examples.flatMap(({ questions }) => questions.slice(0, 1)) : [];
  speakOfFiles(files.length > 0 || isServedFromFiles(), isServedFromFiles());
  showExamples();
  showSuggestion();
}

const isServedFromFiles = () => Boolean(state.start?.counts.files) && !state.start.counts.items && !state.start.counts.pages;

const NO_FILES = { files: [], examples: [] };

function fail(entry, error) {
  if (error.name === "AbortError") {
    if (!entry.turn) {
      state.entries = state.entries.filter((other) => other !== entry);
      if (!input.value) write(entry.question);
    } else entry.question = entry.turn.question;
    input.focus();
    announce("Stopped. The conversation is as it was before.");
    return;
  }
  if (!(error instanceof api.RequestError)) console.error(error);
  entry.failure = { text: error instanceof api.RequestError ? said(error) : "The page failed on this answer.", isGone: error.status === 404 };
}

/** Whether what is shown is what the server has: another tab may have gone on with the conversation. */
function isInStep() {
  const numbers = state.entries.filter((entry) => entry.turn).map((entry) => entry.turn.turn ?? 0);
  return numbers.every((number, place) => place === 0 || number === numbers[place - 1] + 1);
}

const actions = {
  ask: (question) => submit(question),
  edit: (entry) => state.asking || edit(entry),
  link: (number) => {
    history.replaceState(null, "", `#${state.name}/${number + 1}`);
    return location.href;
  },
  cancel: () => state.asking?.abort(),
  again: () => {
    const entry = state.entries.at(-1);
    if (state.asking) return;
    answer(entry, { again: true }).then(() => shownTurns.get(entry)?.node.querySelector("h2").focus({ preventScroll: true }));
  },
  back: async () => {
    const entry = state.entries.at(-1);
    if (state.asking) return;
    try {
      await takeBack();
    } catch (error) {
      fail(entry, error);
      entry.request = null;
      changed(entry);
      return;
    }
    if (state.editing) edit(null);
    if (!input.value) write(entry.question);
    input.focus();
    show();
    announce("The last question was taken back.");
  },
  retry: () => {
    const entry = state.entries.at(-1);
    if (state.asking) return;
    if (entry.request === null) actions.back();
    else answer(entry, entry.request);
  },
  dismiss: () => {
    const entry = state.entries.at(-1);
    entry.failure = null;
    if (!entry.turn) {
      state.entries.pop();
      if (!input.value) write(entry.question);
    } else entry.question = entry.turn.question;
    changed(entry);
    input.focus();
  },
  revive: () => {
    Object.assign(state, { id: null, filesOf: null });
    showFiles(NO_FILES);
    hear(NO_FILES);
    actions.retry();
  },
};

// -- the conversation at the server -----------------------------------------------------------------------------------

function hold({ id }) {
  if (turnsOf().length) keep(id, turnsOf(), { sources: sources(), files: [] }, state.name);
  state.id = state.name = id;
  state.filesOf = null;
  history.replaceState(null, "", `#${id}`);
}

function forget() {
  state.asking?.abort();
  Object.assign(state, { id: null, name: null, filesOf: null, entries: [] });
  if (state.editing) edit(null);
  showFiles(NO_FILES);
  hear(NO_FILES);
  notice(null);
}

/** Begin a new conversation; about the same files, if there are any, unless the one before is deleted. */
async function fresh(isDeleted = false) {
  const before = fileNames().length && isDeleted !== true ? state.id ?? state.filesOf : null;
  const name = collection();
  forget();
  history.replaceState(null, "", location.pathname);
  show();
  input.focus();
  announce("A new conversation.");
  if (before === null) return;
  try {
    const list = await api.files(before);
    state.filesOf = before;
    showFiles(list, name);
    hear(list);
  } catch {
    // they are gone with the conversation
  }
}

/** Show a conversation: as the server has it, else as this browser keeps it. */
async function open(id, number = null) {
  forget();
  show();
  byId("start").hidden = true;
  try {
    const [{ sources: names, conversation }, list] = await Promise.all([api.look(id), api.files(id)]);
    state.id = id;
    take(id, names, conversation.questions);
    showFiles(list, kept(id)?.collection);
    hear(list);
    store();
  } catch (error) {
    const own = error.status === 404 ? kept(id) : null;
    if (own) {
      take(own.id, own.sources, own.questions);
      const files = own.files?.length ? ` Its files are gone: ${own.files.join(", ")}. Add them again to ask about them.` : "";
      notice(`The server no longer has this conversation. You see what this browser kept, and can go on.${files}`);
    } else if (error.status === 404) notice("The server has no such conversation, nor has this browser: it never was, was deleted, or ended with the server.", () => fresh(true), "Begin a new one");
    else notice(said(error), () => open(id, number));
  }
  show();
  byId("start").hidden = true;
  if (number !== null) goTo(number);
}

function take(name, names, questions) {
  state.name = name;
  showSources(names);
  state.entries = questions.map((turn) => ({ question: turn.question, turn }));
}

function goTo(number) {
  const turn = byId("turns").children[number - 1];
  if (!turn) return;
  scrollTo(turn, "instant");
  turn.querySelector("h2").focus({ preventScroll: true });
}

function visit(id) {
  byId("history").hidePopover();
  history.replaceState(null, "", `#${id}`);
  open(id);
}

/** Forget a conversation here and at the server. */
function forgetKept(id) {
  api.remove(id).catch(() => {}); // it may have lost it already
  if (id === state.name) fresh(true);
}

async function imported(file) {
  try {
    const { id } = await api.begin({ sources: sources(), conversation: await conversationIn(file) });
    visit(id);
  } catch (error) {
    notice(said(error));
  }
}

// -- wiring -----------------------------------------------------------------------------------------------------------

takeKeys({
  submit,
  last: () => turnsOf().length && actions.edit(state.entries.findLast(({ turn }) => turn)),
  stop: () => (state.asking ? state.asking.abort() : state.editing && edit(null)),
});
byId("edit-cancel").addEventListener("click", () => edit(null));
byId("history").addEventListener("beforetoggle", ({ newState }) => newState === "open" && showHistory(state.name, visit, forgetKept));
byId("new").addEventListener("click", () => fresh());
byId("export").addEventListener("click", () => download({ conv_id: state.name, questions: turnsOf() }));
takeFile(imported);
window.addEventListener("hashchange", () => {
  const place = named();
  if (place && place.id !== state.name) open(place.id, place.number);
  else if (place?.number) goTo(place.number);
});
new ResizeObserver(() => drawThreads()).observe(byId("conversation"));
byId("turns").addEventListener("toggle", () => drawThreads(), true);

async function started() {
  try {
    state.start = await api.examples();
    if (named() === null) showSources(state.start.sources);
    showServer(state.start);
    if (state.examples === null) speakOfFiles(isServedFromFiles(), isServedFromFiles());
    showExamples();
    if (state.start.uploads) takeFiles(state.start.uploads, { id: begun, changed: hear, refused: (text) => notice(text) });
  } catch (error) {
    notice(said(error), () => location.reload());
  }
}

takeSettings(() => state.entries.forEach(changed));
const place = named();
if (place === null) show();
await Promise.all([started(), place && open(place.id, place.number)]);
if (place === null) ready();
document.documentElement.dataset.ready = "true";
