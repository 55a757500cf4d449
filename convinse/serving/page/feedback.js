// What a user says of an answer; the style sheet shows it only where the server keeps it.

import { announce, button, element } from "./dom.js";

/** Two buttons, and a line for the right answer behind the second one; `rate` sends a rating. */
export function feedback(turn, rate) {
  const send = async (rating, answer = "") => {
    try {
      await rate({ turn: turn.turn, rating, answer });
    } catch (error) {
      said.textContent = error.message;
      return;
    }
    up.setAttribute("aria-pressed", String(rating === "up"));
    down.setAttribute("aria-pressed", String(rating === "down"));
    form.hidden = rating === "up" || answer !== "";
    said.textContent = "Kept. Thank you.";
    announce("Your rating was kept.");
  };
  const verdict = (text, rating) => button(text, () => send(rating), { class: "quiet small", "aria-pressed": "false" });
  const up = verdict("Right", "up");
  const down = verdict("Wrong", "down");
  const line = element("input", { type: "text", maxlength: 200, dir: "auto", "aria-label": "The right answer, if you know it", placeholder: "The right answer, if you know it" });
  const form = element("form", { hidden: true }, line, button("Send", () => form.requestSubmit(), { class: "quiet small" }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (line.value.trim()) send("down", line.value.trim());
  });
  const said = element("span", { class: "note" });
  return element("div", { class: "feedback", role: "group", "aria-label": "Is the answer right?" }, up, down, form, said);
}
