// The protocol pictures in a page: one still picture, or a replay with its slider, buttons and keys.

const STEP_MS = 800; // a playing replay shows a frame this long, at speed 1
const SPEEDS = [0.5, 1, 2, 4];
const NARROW = 560; // px of a window in which a picture is laid out anew, or scrolls
const SMALLEST = 0.7; // a picture that cannot be laid out anew is not drawn smaller than so; it scrolls
const SCROLLED = 0.85; // of its size: there is no need to be small then
const HINT_HEIGHT = 18; // px of the line that says so
const FADE = 24; // px over which a picture fades where it goes on

const ICONS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z",
  back: "M11 3v10L4 8z",
  play: "M4 3v10l9-5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  forward: "M5 3v10l7-5z",
  last: "M11 3h2v10h-2zM3 3v10l7-5z",
  before: "M8 3v10L2 8zM13 3v4.2h-2V3zM13 9v4h-2V9z",
  after: "M8 3v10l6-5zM3 3v4.2h2V3zM3 9v4h2V9z",
  sideways: "M5 4v3h6V4l4 4-4 4V9H5v3L1 8z",
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

// StepView is what every picture with moments shares. A kind of picture says what the steps of a spec are
// ([{t, words, event}]) and paints one of them: paint(svg, spec, step, ink, width) gives the size.
class StepView {
  constructor(host) {
    this.host = host;
    this.at = 0;
    this.follows = true; // the end, until the reader moves
    this.timer = 0;
    this.speed = 1;
    this.svg = svg("svg", { role: "img" });
    this.frame = html("div", { class: "kafkalab-picture" });
    this.frame.appendChild(this.svg);
    this.frame.addEventListener("scroll", () => this.fade(), { passive: true });
    host.appendChild(this.frame);
    takeKeys(host, this);
    this.width = 0;
    this.resizer = new ResizeObserver(() => {
      if (this.chart && this.host.clientWidth && this.host.clientWidth !== this.width) this.draw();
    });
    this.resizer.observe(host);
  }

  update(chart) {
    const moment = this.chart ? this.states[this.at].t : 0;
    this.chart = chart;
    this.states = this.steps(chart.spec);
    this.at = this.follows ? this.states.length - 1 : this.frameOf(moment);
    if (this.moves() && !this.controls) this.addControls();
    this.draw();
  }

  // frameOf is the frame that tells of a moment. A story that grows is thinned anew: the reader stays at the moment, not
  // at the frame's number.
  frameOf(t) {
    if (this.at < this.states.length && this.states[this.at].t === t) return this.at;
    const i = this.states.findIndex((state) => state.t >= t);
    return i < 0 ? this.states.length - 1 : i;
  }

  // moves says whether there is anything to step through.
  moves() {
    return this.chart.kind === "replay" || this.states.length > 1;
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
    this.pace = html("select", { title: "speed (plus and minus)", "aria-label": "speed" }, ...SPEEDS.map((s) => html("option", { value: s }, `${s}×`)));
    this.pace.addEventListener("change", () => this.setSpeed(Number(this.pace.value)));
    this.pace.value = "1";
    this.first = button("first", "first moment (Home)", () => this.go(0));
    this.before = button("before", "event before (comma)", () => this.goToEvent(-1));
    this.back = button("back", "one back (left arrow)", () => this.go(this.at - 1));
    this.player = button("play", "play or pause (space)", () => this.toggle());
    this.forward = button("forward", "one on (right arrow)", () => this.go(this.at + 1));
    this.after = button("after", "next event (full stop)", () => this.goToEvent(1));
    this.last = button("last", "last moment (End)", () => this.go(Infinity));
    this.controls = html("div", { class: "kafkalab-controls" },
      this.first, this.before, this.back, this.player, this.forward, this.after, this.last, this.pace, this.slider, this.clock);
    this.host.prepend(this.controls);
    this.host.append(this.words);
    this.host.tabIndex = 0;
  }

  // onKey keeps every plain key from the notebook, whose command mode would take "b" for a new cell;
  // with ctrl, meta or alt held a key is the notebook's (saving must go on working).
  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    event.stopImmediatePropagation();
    if (event.target === this.frame && /^Arrow(Left|Right)$/.test(event.key)) return; // the browser scrolls
    if (!this.controls) return;
    const onButton = event.target instanceof HTMLButtonElement;
    if (event.target instanceof HTMLSelectElement) return; // it has keys of its own
    const moves = {
      ArrowLeft: () => this.go(this.at - 1), ArrowDown: () => this.go(this.at - 1),
      ArrowRight: () => this.go(this.at + 1), ArrowUp: () => this.go(this.at + 1),
      PageDown: () => this.go(this.at - 10), PageUp: () => this.go(this.at + 10),
      Home: () => this.go(0), End: () => this.go(Infinity),
      ",": () => this.goToEvent(-1), ".": () => this.goToEvent(1),
      "+": () => this.faster(1), "-": () => this.faster(-1),
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

  // goToEvent jumps to the next moment at which something loud happened: a crash, an election, a loss.
  goToEvent(way) {
    let i = this.at + way;
    while (i > 0 && i < this.states.length - 1 && !this.states[i].event) i += way;
    this.go(i);
  }

  faster(way) {
    this.setSpeed(SPEEDS[Math.max(0, Math.min(SPEEDS.indexOf(this.speed) + way, SPEEDS.length - 1))]);
  }

  setSpeed(speed) {
    this.speed = speed;
    this.pace.value = String(speed);
    if (!this.timer) return;
    clearInterval(this.timer);
    this.run();
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
    this.run();
    this.draw();
  }

  run() {
    this.timer = setInterval(() => {
      this.show(this.at + 1);
      if (this.at === this.states.length - 1) this.stop();
    }, STEP_MS / this.speed);
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
    const { spec, alt } = this.chart;
    const ink = isDark() ? DARK : LIGHT;
    const state = this.states[this.at];
    const moves = this.moves();
    this.width = this.host.clientWidth;
    const size = this.paint(this.svg, spec, state, ink, this.width);
    this.svg.setAttribute("aria-label", moves ? `${spec.title}, at ${formatMs(state.t)}: ${state.words.join(" ") || alt}` : alt);
    this.host.style.color = ink.ink;
    this.fit(size, moves);
    if (!moves) return;
    this.words.replaceChildren(...state.words.map((line) => html("p", {}, line)));
    const last = this.states.length - 1;
    this.slider.max = String(last);
    this.slider.value = String(this.at);
    this.slider.setAttribute("aria-valuetext", `${this.at + 1} of ${last + 1}, ${formatMs(state.t)}`);
    this.clock.textContent = `${formatMs(state.t)}  (${this.at + 1}/${last + 1})`;
    // Never disabled for real: a disabled button drops the focus, and the next key would be the notebook's.
    for (const made of [this.first, this.back, this.before]) made.setAttribute("aria-disabled", String(this.at === 0));
    for (const made of [this.forward, this.last, this.after]) made.setAttribute("aria-disabled", String(this.at === last));
    this.player.replaceChildren(icon(this.timer ? ICONS.pause : ICONS.play));
  }

  // fit gives the figure its height: h in a window that is wide enough, and in a narrow one what the smaller
  // picture and the longer sentences need. It does not depend on the moment, so that nothing jumps.
  fit(size, moves) {
    const width = this.width || size.width;
    const scrolls = width / size.width < SMALLEST;
    const scale = scrolls ? SCROLLED : Math.min(1, width / size.width);
    this.svg.style.width = `${Math.round(size.width * scale)}px`;
    this.svg.style.maxWidth = scrolls ? "none" : "100%";
    this.scrollable(scrolls, moves);
    const narrow = width < NARROW;
    this.host.classList.toggle("kafkalab-narrow", narrow);
    const lines = this.chart.spec.wordLines * (narrow ? 2 : 1);
    const around = moves ? (narrow ? 68 : 36) + lines * 18 + 8 : 0;
    if (moves) this.words.style.height = `${lines * 18 + 8}px`;
    const picture = Math.ceil(size.height * scale) + (scrolls ? 16 + HINT_HEIGHT : 0);
    this.host.style.height = `${scale === 1 && !narrow ? this.chart.h : picture + around}px`;
  }

  // scrollable lets a picture that is wider than the window be scrolled by mouse, finger and keyboard, and says so.
  scrollable(scrolls, moves) {
    this.host.classList.toggle("kafkalab-scrolls", scrolls);
    this.host.setAttribute("role", moves || scrolls ? "group" : "img");
    if (scrolls && !this.hint) {
      this.hint = html("p", { class: "kafkalab-hint" }, icon(ICONS.sideways), "wider than this window: scroll sideways");
      this.frame.before(this.hint);
      for (const [name, value] of [["tabindex", "0"], ["role", "group"], ["aria-label", "picture, scrolls sideways"]]) this.frame.setAttribute(name, value);
    }
    if (!scrolls && this.hint) {
      this.hint.remove();
      this.hint = null;
      for (const name of ["tabindex", "role", "aria-label"]) this.frame.removeAttribute(name);
    }
    this.fade();
  }

  // fade lets the picture fade at the sides where it goes on.
  fade() {
    const { scrollLeft, scrollWidth, clientWidth } = this.frame;
    const rest = this.hint ? scrollWidth - clientWidth - scrollLeft : 0;
    this.frame.style.setProperty("--left", `${Math.min(this.hint ? scrollLeft : 0, FADE)}px`);
    this.frame.style.setProperty("--right", `${Math.max(0, Math.min(rest, FADE))}px`);
  }

  dispose() {
    clearInterval(this.timer);
    this.timer = 0;
    this.resizer.disconnect();
    keyed.delete(this.host);
    this.host.removeAttribute("tabindex");
    this.host.classList.remove("kafkalab-narrow", "kafkalab-scrolls");
  }
}

class ReplayView extends StepView {
  steps(spec) {
    return statesOf(spec);
  }

  paint(into, spec, state, ink, width) {
    return drawPicture(into, spec, state, ink, width);
  }
}

class DrawingView extends StepView {
  steps(spec) {
    return drawingSteps(spec);
  }

  paint(into, spec, step, ink) {
    drawDrawing(into, spec, step, ink);
    return spec;
  }
}

function icon(path) {
  return svg("svg", { width: "16", height: "16", viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: path, fill: "currentColor" }));
}
