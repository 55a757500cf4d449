// The examples of the start page.

import { button, byId, element, words } from "./dom.js";

/** Show examples; `begin` is called with the questions of the one that is chosen. */
export function drawExamples(examples, begin) {
  const items = examples.map(({ domain, questions }) => {
    const parts = [
      element("span", { class: "domain" }, domain || "example"),
      words(questions[0], "first"),
      element("span", { class: "then" }, words(questions.slice(1, 3).join(" · "))),
    ];
    return element("li", {}, button(parts, () => begin(questions), { class: "example" }));
  });
  byId("examples").replaceChildren(element("ul", { class: "examples", "aria-label": "Example conversations" }, items));
}
