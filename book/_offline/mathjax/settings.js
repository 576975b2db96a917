// MathJax with the parts that the book needs, from this folder. A formula wider than its column is broken into lines.
// Formulae in sight are set before all others.
"use strict";
window.MathJax = {
  loader: { load: ["input/tex", "output/svg", "a11y/assistive-mml"], paths: { "mathjax-newcm": "[mathjax]/font" } },
  tex: { packages: { "[-]": ["autoload", "require"] } },
  output: { displayOverflow: "linebreak" },
  options: window.MathJax.options,
  startup: {
    ready() {
      delete MathJax.config.options.menuOptions; // which assistive-mml sets, though there is no menu here
      MathJax.startup.defaultReady();
    },
    async pageReady() {
      const inSight = ({ top, bottom }) => bottom > 0 && top < innerHeight;
      const [first, others] = [[], []];
      for (const formula of document.querySelectorAll(".math"))
        (inSight(formula.getBoundingClientRect()) ? first : others).push(formula);
      await MathJax.typesetPromise(first);
      await new Promise((painted) => setTimeout(painted));
      await MathJax.typesetPromise(others);
    },
  },
};
document.head.append(Object.assign(document.createElement("script"), { src: new URL("startup.js", document.currentScript.src) }));
