// One turn: the question, what was understood, the answer, its alternatives and its evidences; or how far it has come.

import { announce, button, element, hidden, pagesOf, percent, shortened, words } from "./dom.js";
import { allEvidences, counted, evidenceList, noun, spansOf } from "./evidence.js";
import { threshold } from "./settings.js";
import { questionText, understood } from "./understood.js";

const ALTERNATIVES = 5;
const LONG = 400;

/**
 * A turn as a list item.
 *
 * `entry` has its `question`, and a `turn`, or `pending` (the stages that are told of) or a `failure`; `actions` are what buttons do.
 */
export function turnView(entry, number, actions) {
  const { turn, pending, failure } = entry;
  const heading = `asked-${number}`;
  const parts = [];
  if (pending) parts.push(progress(entry, actions.cancel));
  else if (turn) parts.push(isTalk(turn) ? null : understood(turn), body(turn, number), clarification(turn, actions), further(turn, number));
  if (failure) parts.push(failed(failure, actions));
  if (turn && !pending) {
    parts.push(
      nextQuestions(turn, actions),
      element(
        "div",
        { class: "actions" },
        pressed("Copy", "Copied", () => copied(turn)),
        pressed("Copy link", "Link copied", () => actions.link(number)),
        button("Edit", () => actions.edit(entry), { class: "quiet small edit" }),
        button("Ask again", actions.again, { class: "quiet small again last" }),
        button("Take back", actions.back, { class: "quiet small back last" }),
      ),
    );
  }
  return element(
    "li",
    { class: "turn", id: `turn-${turn?.turn ?? number}` },
    element(
      "article",
      { "aria-labelledby": heading, "aria-busy": pending ? "true" : null },
      element("h2", { id: heading, tabindex: "-1" }, element("span", { class: "place", "aria-hidden": "true" }, number + 1), hidden(`Question ${number + 1}: `), element("bdi", {}, entry.question)),
      parts,
    ),
  );
}

/** What depends on the turns behind it: the words that they took of its question, and whether it is the last. */
export function placed(node, entry, taken, isLast) {
  const key = JSON.stringify(taken);
  if (node.taken !== key) node.querySelector("h2 bdi").replaceChildren(...questionText(entry.question, taken));
  node.taken = key;
  for (const last of node.querySelectorAll(".last, .next")) last.hidden = !isLast;
}

/** A button that copies a text, and says so. */
function pressed(text, done, give) {
  const node = button(text, async () => {
    const given = give();
    try {
      await navigator.clipboard.writeText(given);
      node.textContent = done;
    } catch {
      node.textContent = "This browser does not let the page copy";
    }
    announce(node.textContent);
    setTimeout(() => (node.textContent = text), 2000);
  }, { class: "quiet small" });
  return node;
}

/** A question, its answer and what that rests on, as text. */
function copied(turn) {
  const [best] = turn.pred_answers ?? [];
  if (!best) return `${turn.question}\n${told(turn)}`;
  const said = turn.sentence && !doubt(turn) ? turn.sentence : `${doubt(turn) ? "No sure answer. At best: " : ""}${labelOf(turn)}`;
  const rests = (best.evidences ?? []).map((place, number) => `[${number + 1}] ${turn.top_evidences?.[place]?.evidence_text}`);
  return [turn.question, `${said} (${level(turn)}, ${percent(best.score)})`, ...rests].join("\n");
}

/** The best answer in words; of a list all that belong to it. */
function labelOf({ pred_answers: answers }) {
  const list = answers.filter((answer) => answer.list);
  return (list.length ? list : answers.slice(0, 1)).map(({ answer }) => answer.label).join(", ");
}

/** Why the best answer of a turn is a guess; null if it is not. */
function doubt(turn) {
  if (turn.abstained) return turn.abstained.reason;
  const score = turn.pred_answers?.[0]?.score;
  return score < threshold() ? `it is less probable than ${percent(threshold())}, which your settings ask for` : null;
}

const level = (turn) => (doubt(turn) ? "not known" : (turn.confidence ?? ""));
const DOTS = { likely: "●●●", perhaps: "●●○", "not known": "●○○" };

/** Whether nothing was answered: it was talk, or a question was asked back. */
const isTalk = (turn) => !turn.pred_answers?.length && Boolean(turn.act || turn.clarification);

/** A question back, with a button for each meaning. */
function clarification({ clarification: back }, actions) {
  if (!back?.choices.length) return null;
  const isOnly = (label) => back.choices.filter((choice) => choice.label === label).length === 1;
  const choices = back.choices.map(({ id, label, description }) => element("li", {}, button([words(label), description ? element("small", {}, ` ${description}`) : null], () => actions.ask(isOnly(label) ? label : id), { class: "quiet small meaning" })));
  return element("section", { class: "clarification", "aria-label": "Which is meant" }, element("p", {}, words(back.question)), element("ol", { class: "chips" }, choices));
}

/** The answers to the further parts of a question. */
function further(turn, number) {
  return (turn.parts ?? []).map((part, place) => element("section", { class: "part", "aria-label": part.question }, element("h3", {}, words(part.question)), understood(part), body(part, `${number}-${place + 1}`)));
}

function body(turn, number) {
  const answers = turn.pred_answers ?? [];
  if (isTalk(turn)) return element("div", { class: "body" }, element("p", { class: "reply" }, words(turn.sentence ?? turn.clarification.question)));
  if (!answers.length) {
    return element("div", { class: "body" }, element("div", { class: "found" }, abstention(turn), missed(turn), element("p", { class: "nothing" }, "Nothing in these sources answers it."), allEvidences(turn)));
  }
  const evidence = element("section", { class: "support", "aria-labelledby": `support-${number}` });
  const choices = [];
  const choose = (rank, isTold = true) => {
    choices.forEach((choice, place) => choice.setAttribute("aria-pressed", String(place === rank)));
    const answer = answers[rank];
    const places = answer.evidences ?? [];
    evidence.replaceChildren(
      element("h3", { id: `support-${number}` }, "Evidence for ", words(shortened(answer.answer.label, 80))),
      places.length ? evidenceList(turn.top_evidences ?? [], places, spansOf(turn, rank), true) : element("p", { class: "nothing" }, "None is named for this answer."),
    );
    if (rank === 0) evidence.append(...reasons(turn, places));
    if (isTold) announce(`Evidence for ${answer.answer.label}: ${places.length}.`);
  };
  const list = alternatives(answers, choices, choose);
  choose(0, false);
  return element(
    "div",
    { class: "body" },
    element("div", { class: "found" }, abstention(turn), missed(turn), best(turn, answers[0])),
    element("div", { class: "rests" }, evidence, allEvidences(turn)),
    element("section", { class: "alternatives", "aria-label": "Possible answers" }, element("h3", {}, "Possible answers"), list),
  );
}

function missed(turn) {
  const failures = [...new Set(turn.live?.failures ?? [])];
  return failures.length ? element("p", { class: "guess" }, words(`Not looked up: ${failures.join("; ")}.`)) : null;
}

function abstention(turn) {
  const reason = doubt(turn);
  return reason && element("p", { class: "abstained" }, element("strong", {}, "No sure answer. "), words(`${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`));
}

function best(turn, { answer, score, time, evidences = [] }) {
  const label = labelOf(turn);
  const from = [...new Set(evidences.map((place) => turn.top_evidences?.[place]?.source).filter(Boolean))];
  return [
    doubt(turn) ? element("p", { class: "guess" }, "At best") : null,
    element("p", { class: size(label) }, longText(label)),
    turn.sentence && !doubt(turn) ? element("p", { class: "said" }, words(turn.sentence)) : null,
    element(
      "p",
      { class: "told" },
      time ? element("span", {}, time) : null,
      element("span", { class: `sure ${level(turn).split(" ")[0]}` }, element("span", { class: "dots", "aria-hidden": "true" }, DOTS[level(turn)] ?? ""), ` ${level(turn)} `, element("span", { class: "number" }, percent(score)), hidden(" probable")),
      from.length ? element("span", {}, `from ${from.map((source) => noun(source, false, turn.top_evidences?.some(({ citation }) => citation))).join(", ")}`) : null,
      label === answer.label ? pagesOf(answer.id) : null,
    ),
  ];
}

/** What the best answer would be without the evidences that it rests on. */
function reasons(turn, places) {
  const evidences = turn.top_evidences ?? [];
  const named = (place) => (places.includes(place) ? `[${places.indexOf(place) + 1}]` : words(shortened(evidences[place]?.evidence_text ?? "", 120)));
  const all = turn.attribution ?? [];
  const best = turn.pred_answers?.[0]?.answer.label;
  const would = ({ without, probability }) => (without === best ? ` it would be ${percent(probability)} probable.` : [" the answer would be ", without ? words(without) : "none", "."]);
  const lines = all[0]?.together
    ? [element("li", {}, "It rests on ", all.map(({ evidence }, number) => [number ? " and " : "", named(evidence)]), ": without all that say the same", would(all[0]))]
    : all.map((reason) => element("li", {}, "It rests on ", named(reason.evidence), ": without this", would(reason)));
  return lines.length ? [element("ul", { class: "reasons", "aria-label": "Why" }, lines)] : [];
}

/** Questions that may be asked next. */
function nextQuestions(turn, actions) {
  const questions = turn.follow_ups ?? [];
  if (!questions.length) return null;
  const items = questions.map((question) => element("li", {}, button(words(question), () => actions.ask(question), { class: "quiet small follow-up" })));
  return element("section", { class: "next", "aria-label": "Questions to ask next" }, element("ul", { class: "chips" }, items));
}

const size = (label) => `answer-label${label.length > 120 ? " long" : label.length > 40 ? " medium" : ""}`;

function longText(text) {
  const shown = element("bdi", {}, shortened(text, LONG));
  if (Array.from(text).length <= LONG) return shown;
  const more = button(`Show all ${Array.from(text).length.toLocaleString("en")} characters`, () => {
    const isShort = more.getAttribute("aria-expanded") === "false";
    shown.textContent = isShort ? text : shortened(text, LONG);
    more.setAttribute("aria-expanded", String(isShort));
  }, { class: "quiet small", "aria-expanded": "false" });
  return [shown, " ", more];
}

function alternatives(answers, choices, choose) {
  const list = element("ol", { class: "bars" });
  const add = (from, to) =>
    answers.slice(from, to).forEach(({ answer, score }, offset) => {
      const rank = from + offset;
      const fill = element("span", { class: "fill" });
      fill.style.inlineSize = `${Math.max(0, Math.min(1, Number(score) || 0)) * 100}%`;
      const choice = element(
        "button",
        { type: "button", class: "choice", "aria-pressed": "false", onclick: () => choose(rank) },
        element("span", { class: "label", dir: "auto" }, shortened(answer.label, 200)),
        element("span", { class: "number" }, percent(score)),
        element("span", { class: "track", "aria-hidden": "true" }, fill),
      );
      choices.push(choice);
      list.append(element("li", {}, choice));
    });
  const probable = Math.max(1, answers.slice(0, ALTERNATIVES).filter(({ score }) => score >= 0.01).length);
  add(0, probable);
  if (answers.length <= probable) return list;
  const more = button(`${answers.length - probable} more`, () => {
    add(probable, answers.length);
    more.remove();
    choices[probable].focus();
  }, { class: "quiet small" });
  return [list, more];
}

const STAGES = [["qu", "Understanding"], ["ers", "Gathering evidence"], ["ha", "Weighing answers"]];

function progress({ question, pending }, cancel) {
  const done = pending.stages;
  const current = STAGES.findIndex(([stage]) => !done[stage]);
  const steps = STAGES.map(([stage, name], place) => {
    const counts = stage === "ers" && done.ers ? counted(done.ers.evidences).join(", ") : "";
    const state = done[stage] ? "done" : place === current ? "under-way" : "";
    return element("li", { class: state, "aria-current": state === "under-way" ? "step" : null }, name, counts ? element("small", {}, counts) : null);
  });
  return element(
    "div",
    { class: "pending" },
    done.qu ? understood({ ...done.qu, question }) : null,
    element("div", { class: "row" }, element("ol", { class: "stages", "aria-label": "Progress" }, steps), button("Cancel", cancel, { class: "quiet small cancel" })),
  );
}

function failed({ text, isGone }, actions) {
  return element(
    "p",
    { class: "failure", role: "alert" },
    element("span", {}, text),
    " ",
    isGone ? button("Go on in a new conversation", actions.revive, { class: "quiet small" }) : button("Retry", actions.retry, { class: "quiet small retry" }),
    button("Dismiss", actions.dismiss, { class: "quiet small" }),
  );
}

/** What a turn comes to, for those who hear it. */
export function told(turn) {
  const [first] = turn.pred_answers ?? [];
  if (isTalk(turn)) return turn.sentence ?? turn.clarification.question;
  if (doubt(turn)) return `No sure answer: ${doubt(turn)}.${first ? ` At best: ${shortened(first.answer.label, 100)}, ${percent(first.score)}.` : ""}`;
  return first ? `Answer: ${shortened(labelOf(turn), 160)}, ${turn.confidence ? `${level(turn)}, ` : ""}${percent(first.score)} probable.` : "No answer was found.";
}

