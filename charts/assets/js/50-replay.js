// The protocol pictures in a page: one still picture, or a replay with its slider, buttons and keys.

const STEP_MS = 800; // a playing replay shows a frame this long

const ICONS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z",
  back: "M11 3v10L4 8z",
  play: "M4 3v10l9-5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  forward: "M5 3v10l7-5z",
  last: "M11 3h2v10h-2zM3 3v10l7-5z",
};

const formatMs = (t) => `${Number.isInteger(t) ? t : String(Math.round(t * 1000) / 1000)} ms`;

// keyed holds the views that take keys, by their element. One listener for all of them stands at the
// window and hears a key before the page does: Notebook 7 takes keys on their way down to the focus.
const keyed = new WeakMap();
let listening = false;

function takeKeys(host, view) {
  keyed.set(host, view);
  if (listening) return;
  listening = true;
  addEventListener("keydown", (event) => {
    const figure = event.target instanceof Element ? event.target.closest(".kafkalab-chart") : null;
    const focused = figure && keyed.get(figure);
    if (focused) focused.onKey(event);
  }, true);
}

class ReplayView {
  constructor(host) {
    this.host = host;
    this.at = 0;
    this.follows = true; // the end, until the reader moves
    this.timer = 0;
    this.svg = svg("svg", { role: "img" });
    host.appendChild(this.svg);
  }

  update(chart) {
    this.chart = chart;
    this.states = statesOf(chart.spec);
    const last = this.states.length - 1;
    this.at = this.follows ? last : Math.min(this.at, last);
    if (chart.kind === "replay" && !this.controls) this.addControls();
    this.draw();
  }

  addControls() {
    const button = (name, label, act) => {
      const made = html("button", { type: "button", title: label, "aria-label": label });
      made.appendChild(icon(ICONS[name]));
      made.addEventListener("click", () => act());
      return made;
    };
    this.words = html("div", { class: "kafkalab-words", "aria-live": "polite" });
    this.slider = html("input", { type: "range", min: "0", step: "1", "aria-label": "moment of the replay" });
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    this.clock = html("output");
    this.first = button("first", "first moment (Home)", () => this.go(0));
    this.back = button("back", "one back (left arrow)", () => this.go(this.at - 1));
    this.player = button("play", "play or pause (space)", () => this.toggle());
    this.forward = button("forward", "one on (right arrow)", () => this.go(this.at + 1));
    this.last = button("last", "last moment (End)", () => this.go(Infinity));
    this.controls = html("div", { class: "kafkalab-controls" },
      this.first, this.back, this.player, this.forward, this.last, this.slider, this.clock);
    this.host.prepend(this.controls);
    this.host.append(this.words);
    this.host.tabIndex = 0;
    takeKeys(this.host, this);
  }

  // onKey keeps every plain key from the notebook, whose command mode would take "b" for a new cell;
  // with ctrl, meta or alt held a key is the notebook's (saving must go on working).
  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    event.stopImmediatePropagation();
    const onButton = event.target instanceof HTMLButtonElement;
    const moves = {
      ArrowLeft: () => this.go(this.at - 1), ArrowDown: () => this.go(this.at - 1),
      ArrowRight: () => this.go(this.at + 1), ArrowUp: () => this.go(this.at + 1),
      PageDown: () => this.go(this.at - 10), PageUp: () => this.go(this.at + 10),
      Home: () => this.go(0), End: () => this.go(Infinity),
    };
    if (!onButton) moves[" "] = () => this.toggle();
    const move = own(moves, event.key) ? moves[event.key] : null;
    if (!move) return;
    event.preventDefault();
    move();
  }

  // go shows a frame that the reader asked for.
  go(i) {
    this.stop();
    this.show(i);
  }

  show(i) {
    const last = this.states.length - 1;
    this.at = Math.max(0, Math.min(i, last));
    this.follows = this.at === last;
    this.draw();
  }

  toggle() {
    if (this.timer) return this.stop();
    if (this.at === this.states.length - 1) this.show(0);
    this.words.setAttribute("aria-live", "off"); // a screen reader cannot keep up with a film
    this.timer = setInterval(() => {
      this.show(this.at + 1);
      if (this.at === this.states.length - 1) this.stop();
    }, STEP_MS);
    this.draw();
  }

  stop() {
    if (!this.timer) return;
    clearInterval(this.timer);
    this.timer = 0;
    this.words.setAttribute("aria-live", "polite");
    this.draw();
  }

  theme() {
    if (this.chart) this.draw();
  }

  draw() {
    const { spec, alt, kind } = this.chart;
    const ink = isDark() ? DARK : LIGHT;
    const state = this.states[this.at];
    this.svg.setAttribute("aria-label", kind === "replay" ? `${spec.title}, at ${formatMs(state.t)}: ${state.words.join(" ") || alt}` : alt);
    drawPicture(this.svg, spec, state, ink);
    this.host.style.color = ink.ink;
    if (kind !== "replay") return;
    this.words.style.height = `${spec.wordLines * 18 + 8}px`;
    this.words.replaceChildren(...state.words.map((line) => html("p", {}, line)));
    const last = this.states.length - 1;
    this.slider.max = String(last);
    this.slider.value = String(this.at);
    this.slider.setAttribute("aria-valuetext", `${this.at + 1} of ${last + 1}, ${formatMs(state.t)}`);
    this.clock.textContent = `${formatMs(state.t)}  (${this.at + 1}/${last + 1})`;
    // Never disabled for real: a disabled button drops the focus, and the next key would be the notebook's.
    for (const made of [this.first, this.back]) made.setAttribute("aria-disabled", String(this.at === 0));
    for (const made of [this.forward, this.last]) made.setAttribute("aria-disabled", String(this.at === last));
    this.player.replaceChildren(icon(this.timer ? ICONS.pause : ICONS.play));
  }

  dispose() {
    clearInterval(this.timer);
    this.timer = 0;
    keyed.delete(this.host);
    this.host.removeAttribute("tabindex");
  }
}

function icon(path) {
  return svg("svg", { width: "16", height: "16", viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: path, fill: "currentColor" }));
}
