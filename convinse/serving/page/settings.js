// The settings of this browser: sources, the least probability of an answer, the theme; and what is known of the server.

import { byId } from "./dom.js";

const SOURCES = { kb: "facts", text: "text", table: "tables", info: "infoboxes" };
const switches = [...document.querySelectorAll("#sources input")];
const line = byId("threshold");
const dark = matchMedia("(prefers-color-scheme: dark)");

/** The sources of the next question, as the server names them; empty if all are off. */
export const sources = () => switches.filter((node) => node.checked).map((node) => node.value).join("_");

/** The least probability of an answer; below it an answer is a guess. */
export const threshold = () => (Number(line.value) > Number(line.min) ? line.value / 100 : 0); // else the server has said it

export function showSources(names) {
  for (const node of switches) node.checked = names.split("_").includes(node.value);
  tellSources();
}

const INFO = ["Infoboxes", "Names and values"]; // of Wikipedia, of files
const LEAD = [byId("lead").textContent, "Every answer quotes its place in your files. A later question may lean on an earlier one; lists, counts and sums go over all of them."];
let isOfFiles = false;

/** Speak of files in place of facts and infoboxes while files alone are asked; the server tells how many if it serves them. */
export function speakOfFiles(isOn, isServed) {
  isOfFiles = isOn;
  const own = Number(isOn);
  byId("lead").textContent = LEAD[own];
  document.querySelector(".switch.kb").hidden = isOn;
  document.querySelector("#start .known").hidden = isOn && !isServed;
  document.querySelector(".switch.info span").textContent = INFO[own];
  tellSources();
}

function tellSources() {
  const shown = switches.filter((node) => !isOfFiles || node.value !== "kb");
  const names = shown.filter((node) => node.checked).map((node) => (isOfFiles && node.value === "info" ? INFO[1].toLowerCase() : SOURCES[node.value]));
  const all = isOfFiles ? "your files" : "all sources";
  const some = names.length ? `${names.join(", ")}${isOfFiles ? " of your files" : ""}` : "no source";
  byId("from").textContent = `Answers from ${names.length === shown.length ? all : some}`;
}

function stored(name, value) {
  try {
    if (value === undefined) return localStorage.getItem(name);
    localStorage.setItem(name, value);
  } catch {
    // storage is forbidden: it holds until the page is closed
  }
  return null;
}

/** Show what the server tells of itself. */
export function showServer({ counts: sizes, is_embedded: isEmbedded, configuration, abstain_below: least }) {
  const counts = Object.entries(sizes).map(([name, count]) => `${count.toLocaleString("en")} ${count === 1 ? name.slice(0, -1) : name}`);
  const own = isEmbedded ? " The facts are from Wikidata; the articles and the example questions were written for this project." : "";
  const text = counts.length ? `Known here: ${counts.join(", ")}.${own}` : "";
  for (const node of document.querySelectorAll(".known")) node.textContent = text;
  byId("configuration").textContent = configuration;
  line.min = Math.ceil(least * 20) * 5;
  line.value = Math.max(line.min, stored("threshold") ?? 0);
  tellThreshold();
}

const tellThreshold = () => (byId("threshold-value").textContent = `${line.value} %`);
const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
const showTheme = () => byId("theme").setAttribute("aria-pressed", String(isDark()));

/** Listen to the controls; `changed` hears of another threshold. */
export function takeSettings(changed) {
  byId("sources").addEventListener("change", tellSources);
  line.addEventListener("input", tellThreshold);
  line.addEventListener("change", () => {
    stored("threshold", line.value);
    changed();
  });
  byId("theme").addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    stored("theme", theme);
    showTheme();
  });
  dark.addEventListener("change", showTheme);
  showTheme();
}
