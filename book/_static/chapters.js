// The buttons of the side bar that unfold a chapter's pages have no words of their own.
document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll(".bd-sidebar-primary summary"))
    button.setAttribute("aria-label", `Pages of ${button.closest("li").querySelector("a").textContent.trim()}`);
});
