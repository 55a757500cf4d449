// The dialog that asks for the token of the server.

import { onToken } from "./api.js";
import { byId } from "./dom.js";

const dialog = byId("access");
let waiting = null; // several requests may want it at once

onToken((wasWrong) => {
  waiting ??= new Promise((resolve) => {
    byId("access-text").textContent = wasWrong ? "That was not its token. Try again." : "Whoever runs the server has it. It stays in this tab and is forgotten with it.";
    byId("token").value = "";
    dialog.returnValue = "";
    dialog.addEventListener("close", () => {
      waiting = null;
      const given = byId("token").value.trim();
      byId("token").value = "";
      resolve(dialog.returnValue === "given" && given ? given : null);
    }, { once: true });
    dialog.showModal();
  });
  return waiting;
});
byId("access-form").addEventListener("submit", (event) => {
  event.preventDefault();
  dialog.close("given");
});
byId("access-cancel").addEventListener("click", () => dialog.close());
