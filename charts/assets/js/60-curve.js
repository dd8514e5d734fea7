// Curves, by ECharts. The option is made here from checked fields; nothing of the notebook's is passed
// on as it came, and the tooltip is made of our own nodes.

const ROW = 14; // px of one line of labels
const CURVE_LEFT = 52;
const CURVE_RIGHT = 18;

// curveLayout gives every part its place, so that it does not depend on ECharts' own habits.
function curveLayout(spec, h, width) {
  const named = spec.series.some((s) => s.name !== spec.panels[s.panel].label);
  const legend = named && spec.series.length > 0;
  const markRows = spec.marks.reduce((most, m) => Math.max(most, m.label ? m.row + 1 : 0), 0);
  const head = headOf(spec, width);
  const rows = legend ? legendRows(spec, width < PICTURE_WIDTH ? (width - 20) / 1.12 : 800) : 0;
  const scrolls = rows > MAX_LEGEND_ROWS;
  const legendTop = head.bottom;
  const top = legendTop + 2 + 22 * (scrolls ? 1 : rows) + markRows * ROW + 4;
  const labelled = spec.panels.some((p) => p.label);
  const gap = labelled ? 24 : 14;
  const n = spec.panels.length;
  const bottom = 44;
  const first = top + (labelled ? 16 : 0);
  const height = Math.max(24, (h - first - bottom - gap * (n - 1)) / n);
  return { legend, scrolls, legendTop, markRows, first, gap, height, labelled, head };
}

const MAX_LEGEND_ROWS = 4; // of more names one turns the pages

// headOf places the title and what the y axis counts: beside each other, or in a narrow window below each other.
function headOf(spec, width) {
  const room = width - 24;
  const letters = Math.max(Math.floor(room / 8.4), 8);
  if ([...spec.title].length + (spec.yLabel ? [...spec.yLabel].length * 0.8 + 2 : 0) <= letters || width >= PICTURE_WIDTH) {
    return { lines: [spec.title], beside: true, bottom: 28 };
  }
  const lines = wrap(spec.title, letters);
  return { lines, beside: false, bottom: 8 + 18 * lines.length + (spec.yLabel ? 16 : 0) };
}

// legendRows is how many lines the names take. ../../curve.go counts the same at the full width.
function legendRows(spec, most = 800) {
  let rows = 1;
  let x = 0;
  for (const name of new Set(spec.series.map((s) => s.name))) {
    const width = 40 + 6.6 * [...name].length;
    if (x > 0 && x + width > most) {
      rows++;
      x = 0;
    }
    x += width;
  }
  return rows;
}

// valueAt is a curve's y at x: the last point's when it steps, between two points otherwise.
function valueAt(points, x, step) {
  let low = 0;
  let high = points.length; // the first point after x
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle][0] <= x) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return null;
  const [x0, y0] = points[low - 1];
  if (step || low === points.length || points[low][0] === x0) return y0;
  const [x1, y1] = points[low];
  return y0 + ((y1 - y0) * (x - x0)) / (x1 - x0);
}

// late labels stand to the left of their line: there is no room to the right.
const late = (spec, x) => x - spec.xMin > (spec.xMax - spec.xMin) * 0.6;
const isLate = (spec, item, x) => item.late ?? late(spec, x);

// bandShows says whether a band's label stands in a panel: what concerns all is said in the first.
const bandShows = (b, panel) => b.label !== "" && (b.panel === panel || (b.panel === -1 && panel === 0));

// fitLabels turns, shortens or drops labels that would stick out or lie on others in a window narrower than the one
// for which Go gave them their rows.
function fitLabels(spec, width) {
  if (width >= PICTURE_WIDTH) return spec;
  const ends = new Map(); // "kind panel row" -> where the last label ends
  const px = (x) => ((x - spec.xMin) / (spec.xMax - spec.xMin || 1)) * (width - CURVE_LEFT - CURVE_RIGHT);
  const fit = (kind, anchor, item) => {
    if (item.label === "") return item;
    const shelf = `${kind} ${item.panel ?? 0} ${item.row}`;
    const left = ends.get(shelf) ?? -CURVE_LEFT;
    const [before, behind] = [px(anchor.end) - left, width - CURVE_LEFT - Math.max(px(anchor.x), left)];
    const size = 6 * [...item.label].length + 8;
    const turned = size > behind ? before > behind : size > before ? false : late(spec, anchor.x);
    const room = turned ? before : behind;
    if (room < Math.min(size, 60) || !turned && px(anchor.x) < left) return { ...item, label: "" };
    const label = size > room ? cutEnd(item.label, Math.floor((room - 8) / 6.2)) : item.label;
    ends.set(shelf, turned ? px(anchor.end) : px(anchor.x) + Math.min(size, room));
    return { ...item, label, late: turned };
  };
  return { ...spec, marks: spec.marks.map((m) => fit("mark", { x: m.x, end: m.x }, m)), bands: spec.bands.map((b) => fit("band", { x: b.from, end: b.to }, b)) };
}

// yScale leaves room above the curves for the labels of bands: no text lies on a curve.
function yScale(spec, panel, height) {
  const { yMin, yMax } = spec.panels[panel];
  let top = yMax;
  if (yMax === 0) {
    top = yMin + 1;
    for (const s of spec.series) if (s.panel === panel) for (const [, y] of s.points) top = Math.max(top, y);
  }
  const rows = spec.bands.reduce((most, b) => (bandShows(b, panel) ? Math.max(most, b.row + 1) : most), 0);
  const room = Math.max(height - (rows ? rows * ROW + 6 : 10), height * 0.4);
  const rough = Math.max((top - yMin) / (height < 80 ? 3 : 5), 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const interval = power * [1, 2, 5, 10].find((times) => power * times >= rough);
  return { top, min: yMin, max: yMin + ((top - yMin) * height) / room, interval };
}

function bandAreas(spec, panel, ink) {
  return spec.bands.filter((b) => b.panel === -1 || b.panel === panel).map((b) => [
    {
      xAxis: b.from, itemStyle: { color: b.tone === "alarm" ? ink.alarm : ink.quiet },
      label: {
        show: bandShows(b, panel), formatter: () => b.label, position: isLate(spec, b, b.from) ? "insideTopRight" : "insideTopLeft", distance: 3,
        offset: [0, b.row * ROW], fontSize: 11, align: isLate(spec, b, b.from) ? "right" : "left", color: b.tone === "alarm" ? ink.alarmInk : ink.soft,
        backgroundColor: ink.veil, padding: [0, 2], // a label that is wider than its band is read over the next line
      },
    },
    { xAxis: b.to },
  ]);
}

function ruleLines(spec, panel, ink, layout) {
  const lift = layout.labelled ? 16 : 0; // above the panel's name
  const marks = spec.marks.map((m) => ({
    xAxis: m.x, lineStyle: { color: m.tone === "alarm" ? ink.alarmInk : ink.soft, type: "solid", width: 1 },
    label: {
      show: panel === 0 && m.label !== "", formatter: () => m.label, position: "end", distance: 2, fontSize: 11,
      align: isLate(spec, m, m.x) ? "right" : "left", offset: [0, (m.row + 1 - layout.markRows) * ROW - lift],
      color: m.tone === "alarm" ? ink.alarmInk : ink.soft,
    },
  }));
  const refs = spec.refs.filter((r) => r.panel === panel).map((r) => ({
    yAxis: r.y, lineStyle: { color: ink.soft, type: "dashed", width: 1 }, label: { show: false }, // refTitles says it
  }));
  return marks.concat(refs);
}

// refText is what the dashed lines of a panel are.
const refText = (spec, panel) => spec.refs.filter((r) => r.panel === panel).map((r) => `- - ${r.label}`).join("   ");

// refTitles say what the dashed lines are, beside the panel's name where no curve comes.
function refTitles(spec, axes, ink) {
  return spec.panels.map((_, i) => ({
    text: refText(spec, i), right: CURVE_RIGHT, top: axes[i].grid.top - 16, padding: 0,
    textStyle: { fontSize: 11, fontWeight: 400, color: ink.soft },
  })).filter((t) => t.text);
}

function panelAxes(spec, i, layout, ink) {
  const lowest = i === spec.panels.length - 1;
  const scale = yScale(spec, i, layout.height);
  const axisLine = { show: true, lineStyle: { color: ink.faint } };
  return {
    grid: { left: CURVE_LEFT, right: CURVE_RIGHT, top: layout.first + i * (layout.height + layout.gap), height: layout.height, containLabel: false, outerBoundsMode: "none" },
    x: {
      type: "value", gridIndex: i, min: spec.xMin, max: spec.xMax > spec.xMin ? spec.xMax : spec.xMin + 1, axisLine,
      axisLabel: { show: lowest, color: ink.soft, fontSize: 11, formatter: (v) => shortNumber(v), hideOverlap: true, alignMaxLabel: "right" },
      axisTick: { show: lowest }, splitLine: { show: false },
      name: lowest ? spec.xLabel : "", nameLocation: "middle", nameGap: 26, nameTextStyle: { color: ink.soft, fontSize: 11 },
      axisPointer: { label: { show: false } },
    },
    y: {
      type: "value", gridIndex: i, min: scale.min, max: scale.max, interval: scale.interval, axisLine, axisTick: { show: false },
      axisLabel: { color: ink.soft, fontSize: 11, formatter: (v) => (v <= scale.top && Math.abs(((v - scale.min) / scale.interval) % 1) < 1e-9 ? shortNumber(v) : "") },
      splitLine: { showMaxLine: false, lineStyle: { color: ink.line, opacity: 0.6 } },
    },
  };
}

function shortNumber(v) {
  const [whole, rest] = String(Math.round(v * 1000) / 1000).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return rest ? `${grouped}.${rest}` : grouped;
}

// panelName is a panel's name, shortened where a narrow window has no room for it beside what its dashed lines are.
function panelName(spec, i, width) {
  const { label: name } = spec.panels[i];
  if (width >= PICTURE_WIDTH) return name;
  return shorten(name, Math.max(Math.floor((width - CURVE_LEFT - CURVE_RIGHT - 6.2 * refText(spec, i).length) / 7.2), 8));
}

function curveOption(whole, h, ink, width = PICTURE_WIDTH) {
  const spec = fitLabels(whole, width);
  const layout = curveLayout(spec, h, width);
  const axes = spec.panels.map((_, i) => panelAxes(spec, i, layout, ink));
  const { head } = layout;
  const title = head.lines.map((line, i) => ({ text: line, left: 6, top: 6 + 18 * i, textStyle: { fontSize: 14, fontWeight: 600, color: ink.ink } }));
  if (spec.yLabel) {
    const place = head.beside ? { right: 18, top: 8 } : { left: 6, top: 7 + 18 * head.lines.length };
    title.push({ text: spec.yLabel, ...place, textStyle: { fontSize: 11, fontWeight: 400, color: ink.soft } });
  }
  spec.panels.forEach((p, i) => {
    if (p.label) title.push({ text: panelName(spec, i, width), left: CURVE_LEFT, top: axes[i].grid.top - 16, padding: 0, textStyle: { fontSize: 11, fontWeight: 600, color: ink.ink } });
  });
  title.push(...refTitles(spec, axes, ink));
  const drawn = spec.series.map((s, i) => ({
    type: "line", id: `s${i}`, name: s.name, xAxisIndex: s.panel, yAxisIndex: s.panel, step: spec.step ? "end" : false,
    data: s.points, symbol: s.points.length === 1 ? "circle" : "none", symbolSize: 5, animation: false, clip: true,
    lineStyle: { width: 2, type: s.line, color: ink.palette[s.colour] }, itemStyle: { color: ink.palette[s.colour] },
    emphasis: { disabled: true }, z: 3,
  }));
  const behind = spec.panels.map((_, i) => ({
    type: "line", id: `p${i}`, xAxisIndex: i, yAxisIndex: i, data: [], silent: true, animation: false, tooltip: { show: false },
    markArea: { silent: true, animation: false, data: bandAreas(spec, i, ink) },
    markLine: { silent: true, animation: false, symbol: "none", data: ruleLines(spec, i, ink, layout) }, z: 1,
  }));
  return {
    animation: false, backgroundColor: "transparent", textStyle: { fontFamily: "system-ui, sans-serif", fontSize: 12, color: ink.ink },
    title, grid: axes.map((a) => a.grid), xAxis: axes.map((a) => a.x), yAxis: axes.map((a) => a.y), series: drawn.concat(behind),
    legend: {
      show: layout.legend, type: layout.scrolls ? "scroll" : "plain", left: 4, right: 10, top: layout.legendTop, itemWidth: 24, itemHeight: 8, padding: [2, 4],
      itemStyle: { opacity: 0 }, // the line alone: its dashes are the sign
      data: spec.series.map((s) => s.name), textStyle: { color: ink.ink, fontSize: 12 }, selectedMode: "multiple",
      pageTextStyle: { color: ink.soft }, pageIconColor: ink.soft, inactiveColor: ink.faint,
    },
    axisPointer: { link: [{ xAxisIndex: "all" }], lineStyle: { color: ink.soft } },
    tooltip: {
      trigger: "axis", confine: true, renderMode: "html", enterable: false, transitionDuration: 0, axisPointer: { type: "line", snap: false },
      backgroundColor: ink.paper, borderColor: ink.line, padding: [4, 8], textStyle: { color: ink.ink, fontSize: 12 },
      formatter: (points) => tooltip(spec, points, ink),
    },
  };
}

// tooltip lists every curve's value at the pointer's moment; legend names are text nodes, never markup.
function tooltip(spec, points, ink) {
  const given = Array.isArray(points) ? points : [points];
  if (!given.length) return "";
  const x = given[0].axisValue;
  const shown = html("div", {}, html("div", {}, formatMs(Math.round(x * 1000) / 1000)));
  for (const s of spec.series) {
    const y = valueAt(s.points, x, spec.step);
    if (y === null) continue;
    const dot = html("span");
    dot.style.cssText = `display:inline-block;width:10px;height:3px;margin:0 6px 3px 0;background:${ink.palette[s.colour]}`;
    const panel = spec.panels[s.panel].label;
    const name = panel && panel !== s.name ? `${panel} ${s.name}` : s.name;
    shown.appendChild(html("div", {}, dot, `${name}: ${shortNumber(y)}`));
  }
  return shown;
}

// measureText mends the line height where no font has 国, whose width zrender takes for it.
function measureText() {
  const context = document.createElement("canvas").getContext("2d");
  return (string, font) => {
    if (string === "国") return { width: parseFloat(/([\d.]+)px/.exec(font)?.[1] ?? "12") };
    context.font = font || "12px sans-serif";
    return context.measureText(string);
  };
}

const MEASURED = new WeakSet(); // builds of ECharts that know it

// EChartsView is what the curves and a learner's own option share: the library, loaded at the first
// use; one instance for the life of the figure; the width of the page.
class EChartsView {
  constructor(host, env) {
    this.host = host;
    this.env = env;
    this.box = html("div");
    this.box.style.cssText = "width:100%;height:100%";
    this.box.setAttribute("aria-hidden", "true"); // the figure's own label says it all
    host.appendChild(this.box);
    this.resizer = new ResizeObserver(() => this.fit());
    this.resizer.observe(host);
    this.gone = false;
    this.busy = false; // waiting for the library
    this.stale = false; // changed while it had no width: JupyterLab 4.2 takes cells that scroll away off the page
  }

  update(chart) {
    this.chart = chart;
    this.draw();
  }

  async library() {
    const library = await this.env.loadECharts(this.wants(this.chart));
    if (!MEASURED.has(library)) {
      library.setPlatformAPI({ measureText: measureText() });
      MEASURED.add(library);
    }
    return library;
  }

  // wants says whether a chart wants the full build of ECharts.
  wants() {
    return false;
  }

  async draw() {
    const chart = this.chart;
    try {
      this.busy = true;
      const library = await this.library();
      this.busy = false;
      if (this.gone || chart !== this.chart) return; // a newer chart came while the library loaded
      this.stale = !this.host.clientWidth;
      if (this.stale) return this.later();
      if (this.instance && this.made !== library) this.end();
      const size = { width: this.host.clientWidth, height: chart.h };
      if (!this.instance) {
        this.instance = library.init(this.box, null, { renderer: "svg", ...size });
        this.made = library;
      } else if (this.instance.getWidth() !== size.width || this.instance.getHeight() !== size.height) {
        this.instance.resize({ ...size, silent: true }); // it draws all of the old option: only when it must
      }
      this.instance.setOption(this.option(chart, library), { notMerge: true });
      const drawn = this.box.querySelector("svg");
      if (drawn) drawn.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`); // so that paper can make it smaller
      this.drawn();
    } catch (err) {
      if (!this.gone) this.failed(err);
    }
  }

  // drawn is called when a chart stands there.
  drawn() {}

  // later looks again: a hidden cell has no width, and neither has a shown one while the theme changes.
  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (!this.gone && this.host.clientWidth) this.draw();
    }, 150);
  }

  fit() {
    if (this.gone || !this.chart) return;
    if (this.busy) return;
    if (!this.instance || this.stale) this.draw();
    else if (this.host.clientWidth) this.draw(); // other labels have room now
    else this.later();
  }

  theme() {
    if (this.chart) this.draw();
  }

  dispose() {
    this.gone = true;
    clearTimeout(this.timer);
    this.resizer.disconnect();
    this.end();
  }

  end() {
    if (this.instance) this.instance.dispose();
    this.instance = null;
  }
}

class CurveView extends EChartsView {
  option(chart) {
    return curveOption(chart.spec, chart.h, isDark() ? DARK : LIGHT, this.host.clientWidth);
  }
}

const foreignShape = record({
  v: whole(1, 1), id: text(40), h: whole(1, 20000), alt: text(2000), option: text(16000000),
  full: optional(flag, () => false), functions: optional(flag, () => false),
});

// readForeign reads a learner's own ECharts option. It is passed on as it stands, which is why only a
// trusted notebook's may come here.
function readForeign(data) {
  const chart = foreignShape(data, "chart");
  try {
    chart.option = JSON.parse(chart.option);
  } catch {
    refuse("chart.option", "a JSON text");
  }
  if (typeof chart.option !== "object" || chart.option === null) refuse("chart.option", "a JSON object");
  return chart;
}

// asText takes from an option what would become markup or leave the page: for an option that nobody
// vouches for.
function asText(option) {
  const made = withoutLinks(option);
  made.tooltip = [].concat(made.tooltip ?? {}).map((t) => ({ ...t, renderMode: "richText" }))[0];
  for (const toolbox of [].concat(made.toolbox ?? [])) {
    if (toolbox && toolbox.feature) delete toolbox.feature.dataView; // it writes its words as markup
  }
  return made;
}

// withoutLinks is a copy in which no title, node or button leads out of the page, and no picture is fetched.
function withoutLinks(value) {
  if (Array.isArray(value)) return value.map(withoutLinks);
  if (typeof value === "string") return /^\s*image:\/\/(?!data:image\/)/i.test(value) ? "circle" : value;
  if (typeof value !== "object" || value === null) return value;
  const leads = (key, item) => typeof item === "string" && (key === "link" || key === "sublink" || (key === "image" && !/^data:image\//i.test(item)));
  const kept = Object.entries(value).filter(([key, item]) => !leads(key, item));
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutLinks(item)]));
}

// calmed stops the ripples of effectScatter for a reader who asked for less motion.
function calmed(option) {
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) return option;
  const calm = (s) => (s && s.type === "effectScatter" ? { ...s, showEffectOn: "emphasis" } : s);
  return { ...option, series: Array.isArray(option.series) ? option.series.map(calm) : calm(option.series) };
}

class ForeignView extends EChartsView {
  wants(chart) {
    return chart.full;
  }

  option(chart, library) {
    const option = calmed({ animation: false, ...chart.option });
    if (chart.asText) return asText(option);
    if (!chart.functions) return option;
    if (!this.env.revive) throw new Error("its functions do not run here");
    return this.env.revive(option, library);
  }

  // drawn complains when ECharts knew nothing of what the option asks for: it draws nothing then, in silence.
  drawn() {
    if (!this.box.querySelector("svg path, svg text, svg image, svg circle")) throw new Error("nothing came of its option");
  }
}
