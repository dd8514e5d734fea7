"use strict";
// Draws each chart of the page over its still picture, when it comes near the window. The still picture stays
// for a reader without JavaScript, for a printer that is faster than the drawing, and for what cannot be drawn.
(() => {
  // loadECharts unpacks the library at the first curve. The policy lets run what has its hash, and nothing else.
  let loading = null;
  const loadECharts = () => (loading ??= (async () => {
    const packed = document.getElementById("echarts");
    if (!packed) throw new Error("this page holds no curves");
    const bytes = Uint8Array.from(atob(packed.textContent), (c) => c.charCodeAt(0));
    const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
    const script = document.createElement("script");
    script.textContent = text;
    document.body.appendChild(script).remove();
    const library = globalThis.kafkalabECharts ?? globalThis.kafkalabEChartsFull; // one of the two is here
    if (!library) throw new Error("ECharts did not run");
    return library;
  })());

  function draw(chart) {
    const still = chart.querySelector("img");
    const data = JSON.parse(chart.querySelector("script").textContent);
    const host = document.createElement("div");
    const figure = kafkalabCharts.create(host, { loadECharts, still });
    chart.appendChild(host);
    if (still) still.hidden = true;
    if (chart.classList.contains("foreign")) figure.updateECharts(data, "", true);
    else figure.update(data, "");
    chart.style.minHeight = ""; // it only kept the place
  }

  const near = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      draw(target);
    }
  }, { rootMargin: "800px" });
  for (const chart of document.querySelectorAll(".chart")) near.observe(chart);

  // One button folds and unfolds all code.
  const codes = [...document.querySelectorAll("details.code")];
  if (codes.length) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "fold";
    const says = () => {
      button.textContent = codes.some((c) => c.open) ? "Fold all code" : "Show all code";
    };
    button.addEventListener("click", () => {
      const open = !codes.some((c) => c.open);
      for (const c of codes) c.open = open;
      says();
    });
    for (const c of codes) c.addEventListener("toggle", says);
    says();
    const main = document.querySelector("main");
    const toc = main.querySelector("nav.toc");
    if (toc) toc.append(button);
    else main.prepend(button);
  }

  // Paper is white, whatever the screen is.
  addEventListener("beforeprint", () => { document.body.dataset.jpThemeLight = "true"; });
  addEventListener("afterprint", () => { delete document.body.dataset.jpThemeLight; });
})();
