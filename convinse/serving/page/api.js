// The requests of the page.

const TOKEN = "convinse-token";
const AGAIN = 6; // attempts while the server still ends a turn that was cancelled here
const PAUSE = 300; // milliseconds between them
let asksForToken = null;
let kept = null;

/** What the server refuses, or that it cannot be reached; `status` is 0 then. */
export class RequestError extends Error {
  constructor(text, status, after = null) {
    super(text);
    this.status = status;
    this.after = after;
  }
}

/** How to get a token when the server wants one: a function that gives it, or null. It is told whether one was wrong. */
export function onToken(ask) {
  asksForToken = ask;
}

function token() {
  try {
    return sessionStorage.getItem(TOKEN);
  } catch {
    return kept;
  }
}

function keep(value) {
  kept = value;
  try {
    sessionStorage.setItem(TOKEN, value);
  } catch {
    // storage may be forbidden: this page knows it until it is closed
  }
}

async function answered(path, { method = "GET", value, file, signal, accept = "application/json" } = {}) {
  const given = token();
  const headers = { Accept: accept };
  if (given) headers.Authorization = `Bearer ${given}`;
  if (value !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, {
      method, headers, signal, body: value === undefined ? file : JSON.stringify(value), cache: "no-store",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new RequestError("The server cannot be reached.", 0);
  }
  if (response.status === 401) {
    const other = token() !== given ? token() : await asksForToken(given !== null);
    if (other !== null) {
      keep(other);
      return answered(path, { method, value, file, signal, accept });
    }
  }
  if (!response.ok) throw await refused(response);
  return response;
}

async function refused(response) {
  let text;
  try {
    text = (await response.json()).error;
  } catch {
    text = null;
  }
  const after = Number(response.headers.get("Retry-After")) || null;
  return new RequestError(typeof text === "string" ? text : `The server answered ${response.status}.`, response.status, after);
}

async function json(path, options) {
  const response = await answered(path, options);
  try {
    return await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new RequestError("The answer of the server broke off.", 0);
  }
}

// below the address of the page, which behind a proxy may be a folder
const fileOf = (id, name) => `${conversation(id)}/files/${encodeURIComponent(name)}`;
const conversation = (id) => `v1/conversations/${encodeURIComponent(id)}`;

export const examples = () => json("v1/examples");
export const begin = (value) => json("v1/conversations", { method: "POST", value });
export const look = (id) => json(conversation(id));
export const remove = (id) => answered(conversation(id), { method: "DELETE" });
export const back = (id) => json(`${conversation(id)}/turns/last`, { method: "DELETE" });
export const table = (page, number) => json(`v1/tables/${encodeURIComponent(page)}/${number}`);

export const files = (id) => json(`${conversation(id)}/files`);
export const putFile = (id, file, name) => json(fileOf(id, name), { method: "PUT", file });
export const removeFiles = (id) => json(`${conversation(id)}/files`, { method: "DELETE" });
export const removeFile = (id, name) => json(fileOf(id, name), { method: "DELETE" });

/** A cited passage among those around it, or in the whole file; the page's address names the conversation. */
export const passages = (file, text, whole = false) => json(`${conversation(location.hash.slice(1).split("/")[0])}/passages?${new URLSearchParams({ file, text, whole })}`);

/** A page of a PDF file, from 1, as a picture. */
export const page = async (file, number) => (await answered(`${conversation(location.hash.slice(1).split("/")[0])}/pages/${number}?${new URLSearchParams({ file })}`, { accept: "image/png" })).blob();

/** The next turn; `onStage` is called with the result of each stage. Raises `RequestError`, or `AbortError` after `signal`. */
export async function ask(id, value, onStage, signal) {
  const response = await begunTurn(`${conversation(id)}/turns`, { method: "POST", value, signal, accept: "text/event-stream" });
  for await (const { kind, data } of events(response.body)) {
    if (kind === "stage") onStage(data);
    if (kind === "turn") return data;
    if (kind === "error") throw new RequestError(data.error, data.status);
  }
  throw new RequestError("The connection ended before the answer.", 0);
}

async function begunTurn(path, options) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await answered(path, options);
    } catch (error) {
      if (error.status !== 409 || attempt === AGAIN) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      options.signal.throwIfAborted();
    }
  }
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const fields = Object.fromEntries(
          block.split("\n").filter((line) => line.includes(": ")).map((line) => [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)]),
        );
        if (fields.data) yield { kind: fields.event, data: JSON.parse(fields.data) };
      }
    }
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new RequestError("The connection ended before the answer.", 0);
  } finally {
    reader.cancel().catch(() => {});
  }
}
