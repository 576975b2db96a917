// Three choices above the table of all claims: paper, data and verdict. A claim is listed if it has the chosen verdict on
// the chosen data. Lines are sorted by what an entry's <data> says where it has one; the script that sorts them reads it
// from the cell itself. Without scripts the table stands as it is.
"use strict";

const OWN = "the paper's own data";

/** A verdict's words, with plain blanks. */
const words = (badge) => badge.textContent.replace(/\s+/g, " ");

/** The verdicts on a claim by data, as its line tells them: first on the paper's own data, then on each other data set. */
function verdicts(line) {
  const found = [];
  let verdict = null;
  const [own, elsewhere] = [line.cells[3], line.cells[4]];
  found.push([OWN, words(own.querySelector(".verdict"))]);
  for (const node of (elsewhere.querySelector("p") ?? elsewhere).childNodes) {
    if (node.nodeType === Node.ELEMENT_NODE && node.classList.contains("verdict")) verdict = words(node);
    else if (verdict && node.textContent.trim()) {
      for (const name of node.textContent.trim().split("; ")) found.push([name, verdict]);
    }
  }
  return found;
}

function choice(label, values) {
  const select = document.createElement("select");
  for (const value of ["all", ...new Set(values)]) select.add(new Option(value));
  select.id = `ledger-${label.toLowerCase()}`;
  const named = document.createElement("label");
  named.htmlFor = select.id;
  named.append(label);
  const both = document.createElement("span");
  both.append(named, " ", select);
  return [both, select];
}

function filtered(table) {
  const lines = [...table.tBodies[0].rows].map((row) => ({ row, paper: row.cells[0].textContent.trim(), found: verdicts(row) }));
  const pairs = lines.flatMap((line) => line.found);
  const controls = document.createElement("div");
  controls.className = "ledger-choices";
  const [[ofPaper, paper], [ofData, data], [ofVerdict, verdict]] = [
    choice("Paper", lines.map((line) => line.paper)),
    choice("Data", pairs.map(([name]) => name)),
    choice("Verdict", pairs.map(([, word]) => word)),
  ];
  const count = document.createElement("output");
  const fits = (select, value) => select.value === "all" || select.value === value;
  const update = () => {
    for (const { row, paper: own, found } of lines) {
      row.hidden = !(fits(paper, own) && found.some(([name, word]) => fits(data, name) && fits(verdict, word)));
    }
    count.textContent = `${lines.filter(({ row }) => !row.hidden).length} of ${lines.length} claims`;
  };
  controls.addEventListener("change", update);
  controls.append(ofPaper, ofData, ofVerdict, count);
  (table.closest(".pst-scrollable-table-container") ?? table).before(controls);
  update();
}

document.querySelectorAll("table.ledger td data").forEach((key) => { key.closest("td").dataset.sort = key.value; });
document.querySelectorAll("table.ledger").forEach(filtered);
