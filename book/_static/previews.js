// What a reference leads to shows below it while the pointer or the keyboard's focus rests on it, and Escape closes it.
// Fingers get none. What stands on another page comes from a script that the book's build has written (previews.py).
"use strict";

{
  const root = new URL("..", document.currentScript.src);
  const KINDS = "figure, div.math, div.proof, div[class*=claim-]";
  const here = location.pathname.split("/").pop();
  const known = { };
  const waiting = {};
  let box, shownFor, timer;

  globalThis.previews = (page, found) => {
    known[page] = found;
    waiting[page]();
  };

  /** The HTML that a page has for an anchor, or nothing. */
  async function fromPage(page, anchor) {
    if (!(page in known)) {
      const script = document.createElement("script");
      script.src = new URL(`_static/previews/${page}.js`, root);
      await new Promise((done) => {
        waiting[page] = script.onerror = done;
        document.head.append(script);
      });
    }
    return known[page]?.[anchor];
  }

  /** What a reference leads to, as an element of its own. */
  async function target(link) {
    const url = new URL(link.href);
    const anchor = decodeURIComponent(url.hash.slice(1));
    const own = document.getElementById(anchor);
    if (own) return own.matches(KINDS) && !own.contains(link) ? own.cloneNode(true) : null;
    const page = url.pathname.split("/").pop().replace(/\.html$/, "");
    if (url.pathname.split("/").pop() === here) return null;
    const html = await fromPage(page, anchor);
    if (!html) return null;
    const holder = document.createElement("div");
    holder.innerHTML = html;
    for (const image of holder.querySelectorAll("img")) image.src = new URL(image.getAttribute("src"), root);
    return holder.firstElementChild;
  }

  async function show(link) {
    shownFor = link;
    const content = await target(link);
    if (!content || shownFor !== link) return;
    if (content.querySelector(".math") && !window.MathJax) return; // a page without formulae has no MathJax
    for (const element of content.querySelectorAll(".headerlink, .zoom, details, mjx-assistive-mml")) element.remove();
    for (const element of [content, ...content.querySelectorAll(":not(svg *)")]) element.removeAttribute("id");
    hide();
    shownFor = link;
    box = document.createElement("div");
    box.className = "preview bd-article";
    box.id = "preview";
    box.setAttribute("role", "tooltip");
    box.append(content);
    box.addEventListener("pointerenter", () => clearTimeout(timer));
    box.addEventListener("pointerleave", later(hide, 200));
    document.body.append(box);
    if (window.MathJax?.typesetPromise && !content.querySelector("mjx-container")) await MathJax.typesetPromise([box]);
    if (!box) return;
    const at = link.getBoundingClientRect();
    const below = at.bottom + box.offsetHeight + 8 < innerHeight || at.top < box.offsetHeight + 8;
    const left = Math.max(8, Math.min(at.left, document.documentElement.clientWidth - box.offsetWidth - 8));
    box.style.left = `${left + scrollX}px`;
    box.style.top = `${(below ? at.bottom + 6 : at.top - box.offsetHeight - 6) + scrollY}px`;
    link.setAttribute("aria-describedby", "preview");
  }

  function hide() {
    clearTimeout(timer);
    shownFor?.removeAttribute("aria-describedby");
    box?.remove();
    box = shownFor = undefined;
  }

  function later(act, wait) {
    return () => {
      clearTimeout(timer);
      timer = setTimeout(act, wait);
    };
  }

  addEventListener("DOMContentLoaded", () => {
    for (const link of document.querySelectorAll('.bd-article a.internal[href*="#"]:not([title])')) {
      link.addEventListener("pointerenter", (event) => {
        if (event.pointerType === "mouse" && shownFor !== link) later(() => show(link), 250)();
        else clearTimeout(timer);
      });
      link.addEventListener("pointerleave", later(hide, 200));
      link.addEventListener("focus", () => link.matches(":focus-visible") && show(link));
      link.addEventListener("blur", hide);
    }
    addEventListener("keydown", (event) => event.key === "Escape" && hide());
  });
}
