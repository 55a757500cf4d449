// The files of a conversation: uploads, one after the other, and a chip for each with a button that removes it.

import * as api from "./api.js";
import { announce, button, byId, element, hidden, words } from "./dom.js";

let rules = null; // of the server; null: it takes no files
let page = null; // what the page gives: `id` begins the conversation, `changed` hears of its files, `refused` of what was not taken
let held = [];
let waiting = [];
let shown = 0; // counts the conversations that were shown
let uploads = Promise.resolve();

/** Take files from now on, by the button and by dropping them on the page. */
export function takeFiles(given, hooks) {
  [rules, page] = [given, hooks];
  const chooser = byId("upload");
  chooser.accept = rules.kinds.join(",");
  byId("add").hidden = false;
  draw();
  for (const id of ["add", "own"]) byId(id).addEventListener("click", () => chooser.click());
  chooser.addEventListener("change", () => {
    add([...chooser.files]);
    chooser.value = "";
  });
  const dropping = (isOn) => document.body.classList.toggle("dropping", isOn);
  document.addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    dropping(true);
  });
  document.addEventListener("dragleave", (event) => event.relatedTarget ?? dropping(false));
  document.addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    dropping(false);
    const folders = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()?.isDirectory);
    add([...event.dataTransfer.files].map((file, place) => (folders[place] ? { name: file.name, isFolder: true } : file)));
  });
}

/** When all files that were added so far are indexed, or refused. */
export const settled = () => uploads;

export const fileNames = () => held.map(({ name }) => name);

/** Show the files of another conversation. */
export function showFiles({ files }) {
  [held, waiting] = [files, []];
  shown += 1;
  draw();
}

function add(files) {
  const conversation = shown;
  waiting.push(...files);
  draw();
  uploads = uploads.then(() => upload(files, () => shown === conversation));
}

async function upload(files, isWanted) {
  const faults = [];
  for (const file of files) {
    if (!isWanted()) return;
    try {
      if (file.isFolder) throw new api.RequestError("it is a folder; serve demo --over asks about folders", 0);
      if (file.size > rules.most_bytes) throw new api.RequestError(`it has more than ${rules.most_bytes / 1e6} MB`, 413);
      const list = await api.putFile(await page.id(), file);
      if (!isWanted()) return;
      held = list.files;
      page.changed(list);
    } catch (error) {
      if (!(error instanceof api.RequestError)) console.error(error);
      faults.push(error.message.startsWith(file.name) ? error.message : `${file.name}: ${error.message}`);
    }
    waiting = waiting.filter((other) => other !== file);
    draw();
  }
  page.refused(faults.join("\n") || null);
  if (files.length > faults.length) announce(`Files added: ${files.length - faults.length}.`);
}

async function remove(name) {
  try {
    const list = await api.removeFile(await page.id(), name);
    held = list.files;
    draw();
    page.changed(list);
    (byId("files").querySelector("button") ?? byId("add")).focus();
    announce(`${name} was removed.`);
  } catch (error) {
    page.refused(error.message);
  }
}

function draw() {
  const place = byId("files");
  place.hidden = !held.length && !waiting.length;
  byId("invitation").hidden = rules === null || !place.hidden;
  const chips = held.map(({ name }) =>
    element("li", { class: "chip" }, words(name), button(element("span", { "aria-hidden": "true" }, "×"), () => remove(name), { class: "remove", "aria-label": `Remove ${name}` })),
  );
  const coming = waiting.map(({ name }) => element("li", { class: "chip coming", "aria-busy": "true" }, words(name), hidden(" is being read")));
  place.querySelector("ul").replaceChildren(...chips, ...coming);
}
