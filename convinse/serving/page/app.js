// The page: a conversation, what is asked of it, and what is known of it at the server.

import * as api from "./api.js";
import { announce, button, byId, element, scrollTo, shortened, words } from "./dom.js";
import { settled, showFiles, takeFiles } from "./files.js";
import { placed, told, turnView } from "./turn.js";
import { drawThreads } from "./understood.js";

const state = {
  id: null, // of the conversation at the server; null until the first question
  entries: [], // a question each, with its turn, or with what is under way or went wrong
  suggested: [], // questions of an example that are still to be asked
  asking: null, // the AbortController of what is under way
  start: null, // examples, sources and uploads of the server
  examples: null, // of the conversation's files; null: it has none
};
const AGAIN = 6; // attempts while the server still ends a turn that was cancelled here
const PAUSE = 300; // milliseconds between them
const input = byId("question");

// -- what is shown ----------------------------------------------------------------------------------------------------

const shownTurns = new Map(); // from entries to what is drawn of them: an opened evidence stays open

function show() {
  const taken = takenWords();
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

function takenWords() {
  const taken = new Map();
  for (const { turn } of state.entries) {
    for (const part of turn?.history_used ?? []) {
      if (part.part === "question") taken.set(part.turn, [...new Set([...(taken.get(part.turn) ?? []), part.text])]);
    }
  }
  return taken;
}

function changed(entry) {
  entry.version = (entry.version ?? 0) + 1;
  show();
}

function showSuggestion() {
  const [next] = state.suggested;
  const place = byId("suggestion");
  place.hidden = !next || state.asking !== null;
  place.replaceChildren(next ? button(["Ask next: ", words(next)], () => submit(next), { class: "quiet suggested" }) : "");
}

function showExamples() {
  const place = byId("examples");
  const begin = (questions) => () => {
    state.suggested = questions.slice(1);
    submit(questions[0]);
  };
  place.replaceChildren(
    element(
      "ul",
      { class: "examples", "aria-label": "Example conversations" },
      (state.examples ?? state.start?.examples ?? []).map(({ domain, questions }) =>
        element(
          "li",
          {},
          button(
            [element("span", { class: "domain" }, domain || "example"), words(questions[0], "first"), element("span", { class: "then" }, words(questions.slice(1, 3).join(" · ")))],
            begin(questions), { class: "example" },
          ),
        ),
      ),
    ),
  );
}

function notice(text, retry = null, label = "Retry") {
  const place = byId("notice");
  place.hidden = text === null;
  place.replaceChildren(...(text === null ? [] : [element("span", {}, text), " ", retry ? button(label, retry, { class: "quiet small retry" }) : ""]));
}

const said = (error) => `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}${error.after ? ` (in ${error.after} s)` : ""}`;

// -- what is asked ----------------------------------------------------------------------------------------------------

const switches = [...document.querySelectorAll("#sources input")];
const sources = () => switches.filter((node) => node.checked).map((node) => node.value).join("_");

function showSources(wanted) {
  const names = wanted.split("_");
  for (const node of switches) node.checked = names.includes(node.value);
}

async function submit(question) {
  if (state.asking) {
    announce("The last question is still being answered.");
    return;
  }
  if (!question.trim()) return;
  if (question === state.suggested[0]) state.suggested.shift();
  const entry = { question: question.trim() };
  state.entries.push(entry);
  input.value = "";
  fitInput();
  notice(null);
  await answer(entry, { question: entry.question });
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
  scrollTo(byId("turns").lastElementChild);
  announce("Working on it.");
  try {
    const turn = await asked(request, control.signal, (stage) => {
      entry.pending.stages[stage.stage] = stage;
      changed(entry);
    });
    entry.turn = turn;
    entry.question = turn.question;
    announce(told(turn));
  } catch (error) {
    fail(entry, error);
  } finally {
    state.asking = null;
    entry.pending = null;
    document.body.classList.remove("asking");
    changed(entry);
  }
  if (state.entries.includes(entry) && entry.turn && !isInStep()) await open(state.id);
}

async function asked(request, signal, tell) {
  await settled();
  signal.throwIfAborted();
  await begun();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await api.ask(state.id, { ...request, sources: sources() }, tell, signal);
    } catch (error) {
      if (error.status !== 409 || attempt === AGAIN) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      signal.throwIfAborted();
    }
  }
}

let beginning = null; // a question and a file may begin the same conversation

/** The id of the conversation, which is begun if it is not yet. */
async function begun() {
  if (state.id === null) {
    beginning ??= api.begin({ sources: sources() }).finally(() => (beginning = null));
    hold(await beginning);
  }
  return state.id;
}

/** Take over the files of the conversation: what they suggest is asked. */
function hear({ files, examples }) {
  state.examples = files.length ? examples : null;
  state.suggested = state.entries.length && files.length ? examples.flatMap(({ questions }) => questions.slice(0, 1)) : [];
  showExamples();
  showSuggestion();
}

const NO_FILES = { files: [], examples: [] };

function fail(entry, error) {
  if (error.name === "AbortError") {
    if (!entry.turn) {
      state.entries = state.entries.filter((other) => other !== entry);
      if (!input.value) input.value = entry.question;
      fitInput();
    }
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
  rate: (value) => api.rate(state.id, value),
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
      await api.back(state.id);
    } catch (error) {
      fail(entry, error);
      entry.request = null;
      changed(entry);
      return;
    }
    state.entries.pop();
    show();
    if (!input.value) input.value = entry.question;
    fitInput();
    input.focus();
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
      if (!input.value) input.value = entry.question;
      fitInput();
    }
    changed(entry);
    input.focus();
  },
  revive: async () => {
    const entry = state.entries.at(-1);
    const questions = state.entries.filter((other) => other !== entry || entry.request?.again).map((other) => other.turn).filter(Boolean);
    try {
      hold(await api.begin(questions.length ? { sources: sources(), conversation: { conv_id: "page", questions } } : { sources: sources() }));
    } catch (error) {
      fail(entry, error);
      changed(entry);
      return;
    }
    showFiles(NO_FILES);
    hear(NO_FILES);
    actions.retry();
  },
};

// -- the conversation at the server -----------------------------------------------------------------------------------

function hold({ id }) {
  state.id = id;
  history.replaceState(null, "", `#${id}`);
}

function forget() {
  state.asking?.abort();
  Object.assign(state, { id: null, entries: [] });
  showFiles(NO_FILES);
  hear(NO_FILES);
  notice(null);
}

function fresh() {
  forget();
  history.replaceState(null, "", location.pathname);
  show();
  input.focus();
  announce("A new conversation.");
}

/** Show the conversation that the address names. */
async function open(id) {
  forget();
  show();
  byId("start").hidden = true;
  try {
    const [{ sources: own, conversation }, list] = await Promise.all([api.look(id), api.files(id)]);
    state.id = id;
    showSources(own);
    state.entries = conversation.questions.map((turn) => ({ question: turn.question, turn }));
    showFiles(list);
    hear(list);
    show();
  } catch (error) {
    if (error.status === 404) notice("The server has no such conversation: it never was, was deleted, or ended with the server.", fresh, "Begin a new one");
    else notice(said(error), () => open(id));
  }
}

const named = () => (/^#conv_[\w-]+$/.test(location.hash) ? location.hash.slice(1) : null);

async function exported() {
  try {
    const { conversation } = await api.look(state.id);
    const address = URL.createObjectURL(new Blob([`${JSON.stringify(conversation, null, 1)}\n`], { type: "application/json" }));
    const link = element("a", { href: address, download: "conversation.json" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
    announce("The conversation was exported.");
  } catch (error) {
    notice(said(error), exported);
  }
}

async function imported(file) {
  let conversation;
  try {
    const value = JSON.parse(await file.text());
    const inner = Array.isArray(value) ? value[0] : value;
    conversation = inner?.conversation ?? inner;
  } catch {
    notice(`${shortened(file.name, 80)} is no JSON; import what Export, chat or ask --json wrote.`);
    return;
  }
  try {
    const { id } = await api.begin({ sources: sources(), conversation });
    history.replaceState(null, "", `#${id}`);
    await open(id);
    announce(`A conversation of ${state.entries.length} questions was imported.`);
  } catch (error) {
    notice(said(error));
  }
}

// -- access -----------------------------------------------------------------------------------------------------------

let waiting = null; // for the token: several requests may want it at once

api.onToken((wasWrong) => {
  waiting ??= new Promise((resolve) => {
    const dialog = byId("access");
    byId("access-text").textContent = wasWrong ? "That was not its token. Try again." : "Whoever runs the server has it. It stays in this tab and is forgotten with it.";
    byId("token").value = "";
    dialog.returnValue = "";
    dialog.addEventListener("close", () => {
      waiting = null;
      const given = byId("token").value.trim();
      byId("token").value = "";
      resolve(dialog.returnValue === "given" && given ? given : null);
    }, { once: true });
    dialog.showModal();
  });
  return waiting;
});
byId("access-form").addEventListener("submit", (event) => {
  event.preventDefault();
  byId("access").close("given");
});
byId("access-cancel").addEventListener("click", () => byId("access").close());

// -- the theme --------------------------------------------------------------------------------------------------------

const dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
const showTheme = () => byId("theme").setAttribute("aria-pressed", String(isDark()));

byId("theme").addEventListener("click", () => {
  const chosen = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = chosen;
  try {
    localStorage.setItem("theme", chosen);
  } catch {
    // it holds until the page is closed
  }
  showTheme();
});
dark.addEventListener("change", showTheme);

// -- wiring -----------------------------------------------------------------------------------------------------------

function fitInput() {
  input.style.blockSize = "auto";
  input.style.blockSize = `${input.scrollHeight + 2}px`;
}

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  submit(input.value);
});
input.addEventListener("input", fitInput);
input.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    submit(input.value);
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && state.asking && !byId("access").open) state.asking.abort();
});
byId("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address names the conversation
  input.focus();
});
byId("new").addEventListener("click", fresh);
byId("export").addEventListener("click", exported);
byId("import").addEventListener("click", () => byId("file").click());
byId("file").addEventListener("change", (event) => {
  const [file] = event.target.files;
  event.target.value = "";
  if (file) imported(file);
});
window.addEventListener("hashchange", () => {
  const id = named();
  if (id !== null && id !== state.id) open(id);
});
new ResizeObserver(() => drawThreads()).observe(byId("conversation"));
byId("turns").addEventListener("toggle", () => drawThreads(), true);

async function started() {
  try {
    state.start = await api.examples();
    if (named() === null) showSources(state.start.sources);
    showExamples();
    document.documentElement.toggleAttribute("data-feedback", state.start.feedback);
    if (state.start.uploads) takeFiles(state.start.uploads, { id: begun, changed: hear, refused: (text) => notice(text) });
  } catch (error) {
    notice(said(error), () => location.reload());
  }
}

showTheme();
const id = named();
if (id === null) show();
await Promise.all([started(), id === null ? null : open(id)]);
document.documentElement.dataset.ready = "true";
