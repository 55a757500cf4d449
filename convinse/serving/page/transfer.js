// Conversations as files: out of the page, and into it.

import { RequestError } from "./api.js";
import { byId, element, shortened } from "./dom.js";

export function download(conversation) {
  const address = URL.createObjectURL(new Blob([`${JSON.stringify(conversation, null, 1)}\n`], { type: "application/json" }));
  element("a", { href: address, download: "conversation.json" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** The conversation in a file. Raises `RequestError`: it is not JSON. */
export async function conversationIn(file) {
  try {
    const value = JSON.parse(await file.text());
    const inner = Array.isArray(value) ? value[0] : value;
    return inner?.conversation ?? inner;
  } catch {
    throw new RequestError(`${shortened(file.name, 80)} is not JSON; import what Export, chat or ask --json wrote.`, 0);
  }
}

/** Let a file be chosen by the button Import. */
export function takeFile(imported) {
  const chooser = byId("file");
  byId("import").addEventListener("click", () => chooser.click());
  chooser.addEventListener("change", () => {
    const [file] = chooser.files;
    if (file) imported(file).finally(() => (chooser.value = ""));
  });
}
