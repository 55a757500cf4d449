// A file that an answer cites: its text, and of a PDF file its pages, with the quoted words marked.

import * as api from "./api.js";
import { announce, button, byId, drawn, element, hidden, marked, said } from "./dom.js";

/** Open the file of a citation at the cited passage: a PDF file at its page, any other one as text. */
export async function openDocument(citation, text, answers) {
  const { passages: all, page } = await api.passages(citation.file, text, true);
  const list = passages(all, answers);
  byId("document-title").textContent = citation.file;
  byId("document-text").replaceChildren(list);
  const views = byId("document-views");
  views.hidden = page === null;
  const show = (isPage) => {
    byId("document-page").hidden = !isPage;
    byId("document-text").hidden = isPage;
    [...views.children].forEach((node, place) => node.setAttribute("aria-pressed", String((place === 0) === isPage)));
    if (!isPage) list.querySelector("[aria-current]").scrollIntoView({ block: "center" });
    byId(isPage ? "document-page" : "document-text").focus({ preventScroll: true });
  };
  views.replaceChildren(...["Page", "Text"].map((name, place) => button(name, () => show(place === 0), { class: "quiet small" })));
  byId("document").showModal();
  show(page !== null);
  if (page !== null) await turnTo(citation.file, page, page.number);
}

/** Draw a page of a file; the one of the citation with its marks, the first of them in view. */
async function turnTo(file, cited, number) {
  const place = byId("document-page");
  const leaf = (step, name) => {
    const turn = () => {
      turnTo(file, cited, number + step);
      (place.querySelector(`[data-step="${step}"]:enabled`) ?? place).focus({ preventScroll: true });
    };
    return button([name, hidden(" page")], turn, { class: "quiet small", "data-step": step, disabled: number + step < 1 || number + step > cited.count });
  };
  const sheet = element("div", { class: "sheet", "aria-busy": "true" });
  const boxes = number === cited.number ? cited.boxes : [];
  place.replaceChildren(
    element("div", { class: "leaves", hidden: cited.count === 1 }, leaf(-1, "Previous"), element("span", { class: "note" }, `Page ${number} of ${cited.count}`), leaf(1, "Next")),
    sheet,
  );
  try {
    const picture = await createImageBitmap(await api.page(file, number));
    if (!sheet.isConnected) return; // another page was asked for meanwhile
    const canvas = element("canvas", { width: picture.width, height: picture.height, role: "img", "aria-label": `Page ${number} of ${file}${boxes.length ? "; the quoted words are marked" : ""}` });
    canvas.getContext("2d").drawImage(picture, 0, 0);
    const marks = boxes.map(([left, top, right, bottom]) => drawn("rect", { x: left, y: top, width: right - left, height: bottom - top }));
    sheet.append(canvas, drawn("svg", { viewBox: "0 0 1 1", preserveAspectRatio: "none", "aria-hidden": "true" }, marks));
    sheet.removeAttribute("aria-busy");
    if (marks.length) toMark(place, sheet, boxes[0]);
    else place.scrollTop = 0;
    announce(`Page ${number} of ${cited.count} is shown.`);
  } catch (error) {
    sheet.replaceWith(element("p", { class: "note", role: "alert" }, `${said(error)} The text shows the words, too.`));
  }
}

/** Scroll until a box stands in the middle; a page that is wider than the window begins with the box. */
function toMark(place, sheet, [left, top]) {
  place.scrollTop = sheet.offsetTop + top * sheet.offsetHeight - place.clientHeight / 3;
  place.scrollLeft = left * sheet.offsetWidth - 16;
}

/** Passages of a file, the cited one with the answer marked. */
export function passages(all, answers) {
  const items = all.map(({ heading, place, text, is_cited: isCited }, number) =>
    element(
      "li",
      { "aria-current": isCited ? "true" : null },
      heading && heading !== all[number - 1]?.heading ? element("strong", { dir: "auto" }, heading) : null,
      element("span", { class: "where" }, place),
      element("span", { dir: "auto" }, marked(text, isCited ? found(text, answers) : [])),
    ),
  );
  return element("ol", { class: "around", "aria-label": "The passage in its file" }, items);
}

/** The spans of words in a passage, which is written without the headings of its evidence, and a row as its cells. */
function found(text, answers) {
  const letters = Array.from(text);
  const isInside = (letter) => letter !== undefined && /[\p{L}\p{N}]/u.test(letter);
  return [...answers].flatMap((answer) => {
    const size = Array.from(answer).length;
    return letters
      .map((_, start) => ({ start, end: start + size }))
      .filter(({ start, end }) => letters.slice(start, end).join("") === answer && !isInside(letters[start - 1]) && !isInside(letters[end]));
  });
}
