// Small helpers for elements. Text gets into the page by textContent and setAttribute alone, and the
// names of tags and attributes are always literals of these files.

const SVG = "http://www.w3.org/2000/svg";

function node(made, attributes, children) {
  for (const name of Object.keys(attributes)) made.setAttribute(name, attributes[name]);
  for (const child of children) {
    if (typeof child === "string") made.appendChild(document.createTextNode(child));
    else made.appendChild(child);
  }
  return made;
}

const html = (tag, attributes = {}, ...children) => node(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => node(document.createElementNS(SVG, tag), attributes, children);

// The palette of Okabe and Ito, with darker (on a dark page: lighter) ones that are read as text, and the
// ink of a letter on a cell of each colour. Light is ../../palette.go, colour for colour.
const LIGHT = {
  ink: "#1F1F1F", soft: "#5F6368", faint: "#8A8F94", line: "#C9CDD2", paper: "#FFFFFF", box: "#FAFBFC", boxDown: "#ECEDEF",
  hw: "#0072B2", alarmInk: "#C1440E", starEdge: "#8A5F00", noKey: "#B4B9BF", onNoKey: "#1F1F1F",
  quiet: "rgba(128,128,128,.16)", alarm: "rgba(213,94,0,.14)", veil: "rgba(255,255,255,.72)",
  palette: ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"],
  paletteText: ["#005A8C", "#8A5F00", "#00694D", "#8F4A72", "#2A6F97", "#A34700"],
  letters: ["#fff", "#1F1F1F", "#fff", "#1F1F1F", "#1F1F1F", "#fff"],
};
const DARK = {
  ink: "#E4E7EB", soft: "#A5AFBA", faint: "#7D8590", line: "#4A525C", paper: "#15181C", box: "#1D2126", boxDown: "#2B2F35",
  hw: "#6CB6FF", alarmInk: "#FF8A4C", starEdge: "#FFD27A", noKey: "#6E767F", onNoKey: "#FFFFFF",
  quiet: "rgba(160,160,160,.22)", alarm: "rgba(255,138,76,.20)", veil: "rgba(21,24,28,.66)",
  palette: ["#2D8FCB", "#E69F00", "#12A67E", "#CC79A7", "#56B4E9", "#E0692A"],
  paletteText: ["#6BB8E8", "#F0B84A", "#4CCBA8", "#E3A3C6", "#8FD0F5", "#F59A66"],
  letters: ["#fff", "#1F1F1F", "#fff", "#1F1F1F", "#1F1F1F", "#fff"],
};

const STYLE = `
.kafkalab-chart { box-sizing: border-box; position: relative; margin: 0; width: 100%; overflow: hidden; font: 12px/18px system-ui, sans-serif; }
.kafkalab-chart * { box-sizing: border-box; }
.kafkalab-chart:focus { outline: none; }
.kafkalab-chart:focus-visible { outline: 2px solid #0072B2; outline-offset: -2px; border-radius: 4px; }
.kafkalab-chart svg { display: block; max-width: 100%; }
.kafkalab-picture { overflow-x: auto; overflow-y: hidden; }
.kafkalab-scrolls .kafkalab-picture { scrollbar-width: thin; -webkit-mask-image: linear-gradient(to right, transparent, #000 var(--left), #000 calc(100% - var(--right)), transparent); mask-image: linear-gradient(to right, transparent, #000 var(--left), #000 calc(100% - var(--right)), transparent); }
.kafkalab-hint { display: flex; align-items: center; gap: 5px; height: 18px; margin: 0; padding: 0 2px; font-size: 11px; }
.kafkalab-hint svg { width: 13px; height: 13px; }
.kafkalab-picture > svg { height: auto; }
.kafkalab-picture:focus-visible { outline: 2px solid #0072B2; outline-offset: -2px; }
.kafkalab-chart svg text { font-family: system-ui, sans-serif; }
.kafkalab-words { margin: 0; padding: 4px 2px; overflow: auto; }
.kafkalab-words p { margin: 0; padding: 0; line-height: 18px; }
.kafkalab-controls { display: flex; align-items: center; gap: 4px; height: 36px; padding: 0 2px; }
.kafkalab-controls button { display: flex; align-items: center; justify-content: center; width: 30px; height: 26px; padding: 0; border: 1px solid currentColor; border-radius: 4px; background: none; color: inherit; cursor: pointer; opacity: .85; }
.kafkalab-controls button:hover { opacity: 1; background: rgba(128,128,128,.18); }
.kafkalab-controls button[aria-disabled=true] { opacity: .35; cursor: default; background: none; }
.kafkalab-controls button:focus-visible, .kafkalab-controls input:focus-visible, .kafkalab-controls select:focus-visible { outline: 2px solid #0072B2; outline-offset: 1px; }
.kafkalab-controls select { height: 26px; padding: 0 2px; border: 1px solid currentColor; border-radius: 4px; background: inherit; color: inherit; font: inherit; }
.kafkalab-narrow .kafkalab-controls { flex-wrap: wrap; height: 68px; }
.kafkalab-narrow .kafkalab-controls input { order: 1; flex-basis: 55%; }
.kafkalab-narrow .kafkalab-controls output { order: 2; }
.kafkalab-controls input { flex: 1 1 auto; min-width: 60px; max-width: 460px; margin: 0 6px; accent-color: #0072B2; }
.kafkalab-controls output { white-space: nowrap; font-variant-numeric: tabular-nums; }
.kafkalab-chart img { display: block; max-width: 100%; height: auto; }
@media print {
  .kafkalab-controls, .kafkalab-hint { display: none; }
  .kafkalab-chart:has(> .kafkalab-picture), .kafkalab-words { height: auto !important; }
  .kafkalab-scrolls .kafkalab-picture { overflow: visible; -webkit-mask-image: none; mask-image: none; }
  .kafkalab-chart svg { max-width: 100% !important; height: auto !important; }
  .kafkalab-chart > div, .kafkalab-chart > div > div { max-width: 100% !important; }
}
`;

// inkOf is the colour that a name of the schema stands for.
function inkOf(name, ink) {
  const numbered = /^([ctl])(\d)$/.exec(name);
  if (numbered) return { c: ink.palette, t: ink.paletteText, l: ink.letters }[numbered[1]][numbered[2]];
  return { none: "none", ink: ink.ink, soft: ink.soft, faint: ink.faint, line: ink.line, paper: ink.paper, box: ink.box, boxDown: ink.boxDown,
    hw: ink.hw, alarm: ink.alarmInk, quiet: ink.quiet, veil: ink.veil }[name];
}

// addStyle puts the style sheet into the document, once.
function addStyle() {
  if (document.querySelector("style[data-kafkalab]")) return;
  document.head.appendChild(html("style", { "data-kafkalab": "1" }, STYLE));
}

// isDark reads the theme from where JupyterLab, VS Code and our exported page keep it.
function isDark() {
  const body = document.body;
  if (body.dataset.jpThemeLight) return body.dataset.jpThemeLight === "false";
  if (body.dataset.vscodeThemeKind) return body.dataset.vscodeThemeKind !== "vscode-light";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

// onTheme calls back when the theme changes and returns a function that ends it.
function onTheme(call) {
  const observer = new MutationObserver(call);
  observer.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-vscode-theme-kind"] });
  const media = matchMedia("(prefers-color-scheme: dark)");
  media.addEventListener("change", call);
  return () => {
    observer.disconnect();
    media.removeEventListener("change", call);
  };
}
