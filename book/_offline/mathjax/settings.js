// MathJax with the parts that the book needs, from this folder. A formula wider than its column is broken into lines.
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
  },
};
document.head.append(Object.assign(document.createElement("script"), { src: new URL("startup.js", document.currentScript.src) }));
