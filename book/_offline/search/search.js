// The search page: sections that have all words of the query, each with its page and the lines around the words.
"use strict";

const SHOWN = 40;
const AROUND = 32; // words in a snippet
const MATHJAX = new URL("../mathjax/settings.js", document.currentScript.src);
const FORMULA = /\\\(.*?\\\)/gs;

const LETTERS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho - sigma tau upsilon phi chi psi omega";
const GREEK = Object.fromEntries(LETTERS.split(" ").map((name, i) => [String.fromCodePoint(0x3b1 + i), name]));

/** The words of a text as they are. */
const plain = (text) => text.normalize("NFKC").toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);

/** The words as they are compared: "P²NeurRank's" has "p2neurrank" and "s"; "δ₁" has "delta", as in TeX, and "1". */
const words = (text) =>
  plain(text.normalize("NFKC").toLowerCase().replace(/[α-ω]/g, (letter) => ` ${GREEK[letter]} `));

/** Pages on the library's modules come after those on the papers. */
const boost = (id, term, section) => (section.address.startsWith("api/") ? 0.02 : 1);

function indexed() {
  const index = new MiniSearch({
    fields: ["title", "page", "text"],
    storeFields: ["title", "page", "text", "address"],
    tokenize: words,
    processTerm: (word) => word,
    searchOptions: {
      boost: { title: 4, page: 2 },
      prefix: (word) => word.length > 2,
      combineWith: "AND",
      boostDocument: boost,
    },
  });
  index.addAll(SECTIONS.map((section, id) => ({ id, ...section })));
  return index;
}

/** The sections that have all words; if there are none, those that have some, spelled alike. */
function found(index, query) {
  const all = index.search(query);
  return all.length ? all : index.search(query, { combineWith: "OR", fuzzy: 0.2 });
}

/** The words of a text in which most of the given ones stand, marked. */
function snippet(text, sought) {
  const tokens = text.match(/\\\(.*?\\\)|\S+/gs) ?? [];
  const hits = tokens.map((token) => words(token).filter((word) => sought.has(word)));
  let best = 0;
  let most = 0;
  for (let start = 0; start < tokens.length; start += 4) {
    const here = new Set(hits.slice(start, start + AROUND).flat()).size;
    if (here > most) [best, most] = [start, here];
  }
  const line = document.createElement("p");
  if (best > 0) line.append("… ");
  for (const [offset, token] of tokens.slice(best, best + AROUND).entries()) {
    if (hits[best + offset].length && !token.startsWith("\\(")) {
      const mark = document.createElement("mark");
      mark.textContent = token;
      line.append(mark, " ");
    } else line.append(`${token} `);
  }
  if (best + AROUND < tokens.length) line.append("…");
  return line;
}

function entry(result, query) {
  const link = document.createElement("a");
  const [path, anchor] = result.address.split("#");
  // in the address and not in local storage, which another process may read too early
  link.href = `${path}?highlight=${encodeURIComponent(plain(query).join(" "))}#${anchor}`;
  link.textContent = result.title;
  const page = document.createElement("span");
  page.className = "search-page";
  page.textContent = result.page === result.title ? "" : result.page;
  const item = document.createElement("li");
  item.append(link, " ", page, snippet(result.text, new Set(result.terms)));
  return item;
}

/** Set the formulae in the results; MathJax is loaded once there are any. */
function typeset(list) {
  if (!list.textContent.match(FORMULA)) return;
  const script = document.createElement("script");
  script.src = MATHJAX;
  window.MathJax = { options: {} };
  document.head.append(script);
}

const query = new URLSearchParams(location.search).get("q")?.trim();
if (query) {
  for (const field of document.querySelectorAll("input[name=q]")) field.value = query;
  const results = found(indexed(), query);
  const list = document.getElementById("search-results");
  const count = results.length === 1 ? "1 section" : `${results.length} sections`;
  const first = results.length > SHOWN ? `, of which the best ${SHOWN} are listed` : "";
  document.getElementById("search-status").textContent = `${count} for “${query}”${first}.`;
  list.append(...results.slice(0, SHOWN).map((result) => entry(result, query)));
  typeset(list);
} else document.querySelector("main input[name=q]").focus();
