// A table wider than its column, as on a phone, becomes a stack: a block for each line, each value below its header.
"use strict";

/** Put the header of its column, as it is shown, before each value of a table but the first of a line. */
function label(table) {
  const headers = [...(table.tHead?.rows[0]?.cells ?? [])];
  for (const row of table.tBodies[0].rows) {
    for (const [column, cell] of [...row.cells].entries()) {
      const header = headers[column];
      if (column === 0 || !header?.textContent.trim() || !cell.textContent.trim()) continue;
      const own = document.createElement("span");
      own.className = "column";
      own.append(...[...header.childNodes].map((node) => node.cloneNode(true)));
      cell.prepend(own);
    }
  }
  table.dataset.labelled = "";
}

/** The width that an element leaves its content. */
function inner(element) {
  const style = getComputedStyle(element);
  return element.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
}

function fit() {
  if (matchMedia("print").matches) return;
  const tables = [...document.querySelectorAll(".bd-article table.table:not(.ledger):has(> tbody)")];
  for (const table of tables) table.classList.remove("stacked");
  const wide = tables.filter((table) => table.offsetWidth > Math.ceil(inner(table.parentElement)));
  for (const table of wide) {
    if (!("labelled" in table.dataset)) label(table);
    table.classList.add("stacked");
  }
}

addEventListener("load", async () => {
  await window.MathJax?.startup.promise;
  fit();
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) fit(); // a phone's bar that hides changes the height alone
    width = innerWidth;
  });
  document.addEventListener("toggle", fit, true); // a fold or tab that opens; the event does not bubble
});
