"use strict";
// Draws each chart of the page over its PNG, when it comes near the window. The PNG stays for a reader
// without JavaScript, for a printer that is faster than the drawing, and for what cannot be drawn.
(() => {
  const loadECharts = () => globalThis.kafkalabECharts
    ? Promise.resolve(globalThis.kafkalabECharts)
    : Promise.reject(new Error("this page holds no curves"));

  function draw(chart) {
    const still = chart.querySelector("img");
    const data = JSON.parse(chart.querySelector("script").textContent);
    const host = document.createElement("div");
    const figure = kafkalabCharts.create(host, { loadECharts });
    chart.appendChild(host);
    if (still) still.hidden = true;
    const png = still ? still.src.replace(/^data:image\/png;base64,/, "") : "";
    if (chart.classList.contains("foreign")) figure.updateECharts(data, png, true);
    else figure.update(data, png);
  }

  const near = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      draw(target);
    }
  }, { rootMargin: "800px" });
  for (const chart of document.querySelectorAll(".chart")) near.observe(chart);

  // Paper is white, whatever the screen is.
  addEventListener("beforeprint", () => { document.body.dataset.jpThemeLight = "true"; });
  addEventListener("afterprint", () => { delete document.body.dataset.jpThemeLight; });
})();
