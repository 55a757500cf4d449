// The files of a conversation: uploads, one after the other, folded into a line that says how many there are.

import * as api from "./api.js";
import { announce, button, byId, element, hidden, words } from "./dom.js";

const FEW = 3; // files that are named in the line
const narrow = matchMedia("(max-width: 40rem)");
let rules = null; // of the server; null: it takes no files
let page = null; // what the page gives: `id` begins the conversation, `changed` hears of its files, `refused` of what was not taken
let held = [];
let waiting = []; // with the name that each gets
let unread = []; // names, with the reason
let named = null; // the folder that the files are of
let shown = 0; // counts the conversations that were shown
let uploads = Promise.resolve();

/** Take files from now on, by the buttons and by dropping them on the page. */
export function takeFiles(given, hooks) {
  [rules, page] = [given, hooks];
  byId("upload").accept = rules.kinds.join(",");
  byId("add").hidden = false;
  draw();
  for (const [id, chooser] of [["add", "upload"], ["own", "upload"], ["own-folder", "folder"]]) byId(id).addEventListener("click", () => byId(chooser).click());
  for (const id of ["upload", "folder"]) {
    const chooser = byId(id);
    chooser.addEventListener("change", () => {
      add([...chooser.files].map((file) => ({ file, path: file.webkitRelativePath || file.name })));
      chooser.value = "";
    });
  }
  byId("remove-all").addEventListener("click", removeAll);
  const dropping = (isOn) => document.body.classList.toggle("dropping", isOn);
  document.addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    dropping(true);
  });
  document.addEventListener("dragleave", (event) => event.relatedTarget ?? dropping(false));
  document.addEventListener("drop", async (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    dropping(false);
    const files = [...event.dataTransfer.files];
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry());
    add((await Promise.all(files.map((file, place) => below(entries[place], file)))).flat());
  });
}

/** The files of a dropped file or folder, with their paths from it. */
async function below(entry, file, above = "") {
  if (!entry || entry.isFile) return [{ file: file ?? (await new Promise((resolve, reject) => entry.file(resolve, reject))), path: above + (file ?? entry).name }];
  const reader = entry.createReader();
  const inside = [];
  for (;;) { // a reader gives a hundred at a time
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) break;
    inside.push(...some);
  }
  return (await Promise.all(inside.map((inner) => below(inner, null, `${above}${entry.name}/`)))).flat();
}

/** When all files that were added so far are indexed, or refused. */
export const settled = () => uploads;

export const fileNames = () => held.map(({ name }) => name);

/** The name of the files: that of their folder; null without one. */
export const collection = () => named;

/** Show the files of another conversation. */
export function showFiles({ files }, name = null) {
  [held, waiting, unread, named] = [files, [], [], name ?? null];
  shown += 1;
  byId("files").open = isFew();
  draw();
}

const isFew = () => held.length + waiting.length + unread.length <= FEW && !narrow.matches;

/** Add files, of a folder those that are not hidden; what is in folders inside of it is named by these, too. */
function add(files) {
  const conversation = shown;
  const visible = files.filter(({ path }) => !path.split("/").some((part) => part.startsWith(".")));
  const folder = visible.find(({ path }) => path.includes("/"))?.path.split("/")[0];
  if (folder) named = held.length && named !== folder ? null : folder;
  const added = visible.map(({ file, path }) => {
    const parts = path.split("/");
    return { file, name: parts.slice(parts.length > 1 ? 1 : 0).join(" › ") };
  });
  const isRead = ({ name }) => rules.kinds.some((kind) => name.toLowerCase().endsWith(kind));
  const isOfFolder = Boolean(folder);
  const wanted = isOfFolder ? added.filter(isRead) : added; // a file that was chosen by itself is refused with the server's words
  if (isOfFolder) unread.push(...added.filter((one) => !isRead(one)).map(({ name }) => ({ name, why: "of a kind that is not read" })));
  waiting.push(...wanted);
  byId("files").open = isFew();
  draw();
  uploads = uploads.then(() => upload(wanted, isOfFolder, () => shown === conversation));
}

async function upload(files, isOfFolder, isWanted) {
  const faults = [];
  for (const one of files) {
    const { file, name } = one;
    if (!isWanted()) return;
    try {
      if (file.size > rules.most_bytes) throw new api.RequestError(`it has more than ${rules.most_bytes / 1e6} MB`, 413);
      const list = await api.putFile(await page.id(), file, name);
      if (!isWanted()) return;
      held = list.files;
      page.changed(list);
    } catch (error) {
      if (!(error instanceof api.RequestError)) console.error(error);
      const why = error.message.startsWith(`${name}: `) ? error.message.slice(name.length + 2) : error.message;
      if (isOfFolder) unread.push({ name, why });
      else faults.push(`${name}: ${why}`);
    }
    waiting = waiting.filter((other) => other !== one);
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
    (byId("files").querySelector("li button") ?? byId("add")).focus();
    announce(`${name} was removed.`);
  } catch (error) {
    page.refused(error.message);
  }
}

async function removeAll() {
  try {
    const list = await api.removeFiles(await page.id());
    showFiles(list);
    page.changed(list);
    byId("add").focus();
    announce("All files were removed.");
  } catch (error) {
    page.refused(error.message);
  }
}

function draw() {
  const place = byId("files");
  place.hidden = !held.length && !waiting.length && !unread.length;
  byId("invitation").hidden = rules === null || !place.hidden;
  const count = held.length + waiting.length;
  const counts = [`${count} ${count === 1 ? "file" : "files"}`, ...(waiting.length ? [`${waiting.length} being read`] : []), ...(unread.length ? [`${unread.length} not read`] : [])].join(", ");
  const few = [...held, ...waiting].map(({ name }) => name).join(", ");
  byId("files-name").textContent = named ? `${named}: ${counts}` : count <= FEW && !unread.length ? few : counts;
  place.classList.toggle("coming", waiting.length > 0);
  const chips = held.map(({ name }) =>
    element("li", { class: "chip" }, words(name), button(element("span", { "aria-hidden": "true" }, "×"), () => remove(name), { class: "remove", "aria-label": `Remove ${name}` })),
  );
  const coming = waiting.map(({ name }) => element("li", { class: "chip coming", "aria-busy": "true" }, words(name), hidden(" is being read")));
  place.querySelector(".chips").replaceChildren(...chips, ...coming);
  const left = unread.map(({ name, why }) => element("li", {}, words(name), `: ${why}`));
  place.querySelector(".unread").replaceChildren(...left);
  place.querySelector(".unread").hidden = !left.length;
}
