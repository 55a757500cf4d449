// The line where questions are written, and the keys of the page.

import { byId } from "./dom.js";

export const input = byId("question");

/** Put a text into the line. */
export function write(text) {
  input.value = text;
  fit();
}

const types = matchMedia("(hover: hover)"); // elsewhere the keyboard of the screen would cover the answer

/** Lead to the line, where the next question is written. */
export function ready() {
  if (types.matches) input.focus({ preventScroll: true });
}

function fit() {
  input.style.blockSize = "auto";
  input.style.blockSize = `${input.scrollHeight + 2}px`;
}

/** Listen to the keys: `submit` takes a question, `last` is to change the last one, `stop` to stop what is under way. */
export function takeKeys({ submit, last, stop }) {
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    submit(input.value);
  });
  input.addEventListener("input", fit);
  input.addEventListener("keydown", (event) => {
    const isSent = event.key === "Enter" && !event.shiftKey && !event.isComposing;
    if (isSent || (event.key === "ArrowUp" && !input.value)) {
      event.preventDefault();
      if (isSent) submit(input.value);
      else last();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !document.querySelector("dialog[open], :popover-open")) stop();
    if (event.key === "/" && event.target === document.body) {
      event.preventDefault();
      input.focus();
    }
  });
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault(); // the address names the conversation
    input.focus();
  });
}
