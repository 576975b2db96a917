// A figure opens at full size by a tap, a click or its button; Escape, the button or a tap beside the figure closes it.
"use strict";

function viewer() {
  const dialog = document.createElement("dialog");
  dialog.className = "zoomed";
  dialog.innerHTML = '<div tabindex="0" role="region"></div><button type="button">Close</button>';
  dialog.addEventListener("click", (event) => {
    if (event.target.closest("img") === null) dialog.close();
  });
  dialog.addEventListener("keydown", (event) => event.key === "Escape" && dialog.close());
  document.body.append(dialog);
  return dialog;
}

addEventListener("DOMContentLoaded", () => {
  let dialog;
  for (const image of document.querySelectorAll(".bd-article figure img")) {
    const figure = image.closest("figure");
    const name = figure.querySelector(".caption-number")?.textContent.trim() ?? "the figure";
    const open = () => {
      dialog ??= viewer();
      const place = dialog.firstChild;
      dialog.setAttribute("aria-label", name);
      place.setAttribute("aria-label", name);
      place.replaceChildren(Object.assign(new Image(), { src: image.src, alt: image.alt }));
      dialog.showModal();
    };
    const button = document.createElement("button");
    button.type = "button";
    button.className = "zoom";
    button.setAttribute("aria-label", `Enlarge ${name}`);
    button.addEventListener("click", open);
    image.addEventListener("click", open);
    (image.closest("picture") ?? image).after(button);
  }
});
