// The one way in. create(host, env) draws into an element and goes on drawing as the chart grows:
//
//   const figure = kafkalabCharts.create(element, { loadECharts });   // loadECharts(full) => Promise<library>
//   (loadECharts may have a still picture beside it: { loadECharts, still } with an <img> to fall back to)
//   figure.update(data, png)       // the MIME type's value and the base64 text of the PNG beside it
//   (and revive(option, library), which makes functions of marked texts, where such may run)
//   figure.updateECharts(data, png)   // a learner's own ECharts option; only ever in a trusted notebook, or
//                                     // with true as third argument: tooltips as text, no links
//   figure.dispose()
//
// Whatever cannot be drawn (refused by the schema, an unknown kind, a newer version, ECharts not to be
// had) shows as the PNG with our own alternative text.

const VIEWS = { cluster: ReplayView, replay: ReplayView, drawing: DrawingView, curve: CurveView };

class Figure {
  constructor(host, env) {
    this.host = host;
    this.env = env;
    this.view = null;
    this.kind = "";
    addStyle();
    host.classList.add("kafkalab-chart");
    this.endTheme = onTheme(() => this.view && this.view.theme());
  }

  update(data, png) {
    let chart;
    try {
      chart = readChart(data);
    } catch (err) {
      if (!(err instanceof Refused)) throw err;
      return this.fallBack(readAlt(data), png, `this chart is shown as a picture: ${err.message}`);
    }
    this.draw(chart.kind, VIEWS[chart.kind], chart, png);
  }

  updateECharts(data, png, asText = false) {
    let chart;
    try {
      chart = readForeign(data);
      chart.asText = asText;
    } catch (err) {
      if (!(err instanceof Refused)) throw err;
      return this.fallBack(readAlt(data), png, `this chart is shown as a picture: ${err.message}`);
    }
    this.draw("echarts", ForeignView, chart, png);
  }

  draw(kind, View, chart, png) {
    if (this.kind !== kind || !this.view) {
      this.clear();
      this.kind = kind;
      this.view = new View(this.host, this.env);
    }
    const steps = kind === "replay" || (kind === "drawing" && chart.spec.frames.length > 1);
    this.host.setAttribute("role", steps ? "group" : "img");
    this.host.setAttribute("aria-label", chart.alt);
    this.host.style.height = `${chart.h}px`;
    this.host.dataset.kafkalab = kind;
    this.view.failed = (err) => this.fallBack(chart.alt, png, `this chart is shown as a picture: ${err.message}`);
    this.view.update(chart, png);
  }

  fallBack(alt, png, why) {
    this.clear();
    for (const name of ["role", "aria-label"]) this.host.removeAttribute(name); // the picture has its own
    this.host.style.height = "auto";
    this.host.dataset.kafkalab = "png";
    if (why) console.warn(`kafkalab: ${why}`);
    this.host.appendChild(this.env.still ? stillAgain(this.env.still) : picture(alt, png));
  }

  clear() {
    if (this.view) this.view.dispose();
    this.view = null;
    this.kind = "";
    this.host.replaceChildren();
  }

  dispose() {
    this.endTheme();
    this.clear();
  }
}

// stillAgain is a page's own still picture, shown again.
function stillAgain(still) {
  const again = still.cloneNode();
  again.hidden = false;
  return again;
}

// picture is the PNG at half its size (it is drawn at 2x), or the sentence when there is none.
function picture(alt, png) {
  if (typeof png !== "string" || !/^[A-Za-z0-9+/=\s]+$/.test(png)) return html("p", {}, alt || "This chart cannot be shown here.");
  const img = html("img", { alt, src: `data:image/png;base64,${png.replace(/\s+/g, "")}` });
  img.addEventListener("load", () => {
    img.style.width = `${img.naturalWidth / 2}px`;
  });
  return img;
}

const create = (host, env) => new Figure(host, env);
