// The closed schema (../../SCHEMA.md). Every field is copied by name and checked on the way, so nothing
// that the schema does not name can reach the page: not an unknown field, not a wrong type, not a
// number out of range. Whatever fails is a Refused, and the reader sees the PNG instead.

class Refused extends Error {}

function refuse(at, want) {
  throw new Refused(`${at}: want ${want}`);
}

const own = (object, key) => Object.prototype.hasOwnProperty.call(object, key);

const text = (max) => (v, at) => {
  if (typeof v !== "string" || (v.length > max && [...v].length > max)) refuse(at, `text of at most ${max} characters`);
  return v;
};

const number = (low, high) => (v, at) => {
  if (typeof v !== "number" || !(v >= low && v <= high)) refuse(at, `a number from ${low} to ${high}`);
  return v;
};

const whole = (low, high) => (v, at) => {
  if (!Number.isSafeInteger(v) || v < low || v > high) refuse(at, `a whole number from ${low} to ${high}`);
  return v;
};

const flag = (v, at) => {
  if (typeof v !== "boolean") refuse(at, "true or false");
  return v;
};

const oneOf = (...names) => (v, at) => {
  const i = names.indexOf(v);
  if (i < 0) refuse(at, `one of ${names.join(", ")}`);
  return names[i];
};

const list = (item, max, min = 0) => (v, at) => {
  if (!Array.isArray(v) || v.length > max || v.length < min) refuse(at, `a list of ${min} to ${max}`);
  const copy = [];
  for (let i = 0; i < v.length; i++) copy.push(item(v[i], `${at}[${i}]`));
  return copy;
};

const tuple = (...items) => (v, at) => {
  if (!Array.isArray(v) || v.length !== items.length) refuse(at, `a list of ${items.length}`);
  return items.map((item, i) => item(v[i], `${at}[${i}]`));
};

// record takes {name: check}. A check wrapped in optional() gives its default when the field is absent.
const record = (shape) => (v, at) => {
  if (typeof v !== "object" || v === null || Array.isArray(v)) refuse(at, "an object");
  for (const key of Object.keys(v)) {
    if (!own(shape, key)) refuse(at, `no field ${JSON.stringify(key.slice(0, 40))}`);
  }
  const copy = {};
  for (const key of Object.keys(shape)) {
    const check = shape[key];
    if (own(v, key)) copy[key] = check(v[key], `${at}.${key}`);
    else if (check.absent) copy[key] = check.absent();
    else refuse(`${at}.${key}`, "a value");
  }
  return copy;
};

const optional = (check, absent) => {
  const wrapped = (v, at) => check(v, at);
  wrapped.absent = absent;
  return wrapped;
};

const none = () => [];
const some = (check) => optional(check, none);

const words = text(300);
const real = number(-1e15, 1e15);
const offset = whole(0, Number.MAX_SAFE_INTEGER);
const epoch = whole(-1, Number.MAX_SAFE_INTEGER);
const brokerId = whole(0, Number.MAX_SAFE_INTEGER);
const leaderId = whole(-1, Number.MAX_SAFE_INTEGER);
const tone = oneOf("quiet", "alarm");
const row = whole(0, 7);
const mark = whole(0, 2);
const cell = tuple(offset, whole(-1, 511), epoch, mark);

const curveShape = record({
  title: words, xLabel: words, yLabel: words, step: flag, xMin: real, xMax: real,
  panels: list(record({ label: words, yMin: real, yMax: real }), 16, 1),
  series: list(record({
    name: words, panel: whole(0, 15), colour: whole(0, 5), line: oneOf("solid", "dashed", "dotted"),
    points: list(tuple(real, real), 2000),
  }), 64),
  bands: some(list(record({ from: real, to: real, label: words, panel: whole(-1, 15), tone, row }), 200)),
  marks: some(list(record({ x: real, label: words, tone, row }), 200)),
  refs: some(list(record({ panel: whole(0, 15), y: real, label: words }), 200)),
});

const replayShape = record({
  title: words, width: whole(1, 4000), height: whole(1, 20000), columns: whole(1, 8), rows: whole(0, 64), cells: whole(1, 64),
  wordLines: whole(0, 20),
  keys: list(words, 512), brokers: list(brokerId, 64), partitions: list(words, 64), controllers: some(list(brokerId, 16)), wire: some(list(record({ from: words, to: words, text: words, when: words, state: oneOf("", "held", "cut") }), 16)),
  replicas: list(record({ p: whole(0, 63), b: whole(0, 63), row: whole(0, 63) }), 4096),
  frames: list(record({
    t: real,
    words: some(list(words, 20)),
    event: optional(flag, () => false),
    controllers: some(list(record({
      c: whole(0, 15), state: oneOf("active", "leader", "follower", "candidate", "unattached", "paused", "down"), epoch,
    }), 16)),
    brokers: some(list(record({
      b: whole(0, 63), state: oneOf("up", "starting", "stopping", "fenced", "paused", "down"),
    }), 64)),
    partitions: some(list(record({
      p: whole(0, 63), leader: leaderId, epoch, isr: list(brokerId, 64), from: offset,
    }), 64)),
    logs: some(list(record({
      r: whole(0, 4095), role: oneOf("leader", "follower", "offline"), start: offset, end: offset,
      hw: whole(-1, Number.MAX_SAFE_INTEGER), add: some(list(cell, 64)), gone: some(list(cell, 64)),
    }), 4096)),
    marks: some(list(tuple(whole(0, 63), offset, offset, epoch, mark), 4096)),
    clients: optional(list(words, 20), () => null),
  }), 400, 1),
});

// Colours travel by name: INKS of 30-dom.js has what each is in a light and in a dark page.
const ink = oneOf("none", "ink", "soft", "faint", "line", "paper", "box", "boxDown", "hw", "alarm", "quiet", "veil",
  "c0", "c1", "c2", "c3", "c4", "c5", "t0", "t1", "t2", "t3", "t4", "t5", "l0", "l1", "l2", "l3", "l4", "l5");
const place = number(-20000, 20000);
const zero = () => 0;

const drawingShape = record({
  title: words, width: whole(1, 4000), height: whole(1, 20000), wordLines: whole(0, 20),
  shapes: list(record({
    k: oneOf("rect", "line", "arrow", "circle", "text", "cell", "star", "cross", "tick", "ring", "flag"),
    z: optional(whole(0, 9), zero), x: optional(place, zero), y: optional(place, zero), w: optional(place, zero), h: optional(place, zero),
    r: optional(number(0, 20000), zero), f: optional(ink, () => "none"), s: optional(ink, () => "none"), sw: optional(number(0, 20), zero),
    d: optional(oneOf("", "dash", "dot"), () => ""), o: optional(number(0, 1), zero),
    t: optional(words, () => ""), sz: optional(number(1, 60), () => 12), a: optional(oneOf("", "middle", "end"), () => ""), b: optional(flag, () => false),
    key: optional(whole(-1, 511), zero), m: optional(mark, zero), as: optional(oneOf("", "open", "ghost"), () => ""),
    tip: optional(words, () => ""),
  }), 20000),
  frames: list(record({
    t: real, words: some(list(words, 20)), event: optional(flag, () => false),
    add: some(list(whole(0, 19999), 6000)), drop: some(list(whole(0, 19999), 6000)),
  }), 400, 1),
});

const envelopeShape = record({
  v: whole(1, 1), id: text(40), kind: oneOf("curve", "cluster", "replay", "drawing"), h: whole(1, 20000),
  alt: text(2000), spec: text(16000000),
});

function within(i, items, at) {
  if (i >= items.length) refuse(at, `an index below ${items.length}`);
}

function rising(points, at) {
  for (let i = 1; i < points.length; i++) {
    if (points[i][0] < points[i - 1][0]) refuse(`${at}[${i}]`, "an x that is not before the last one");
  }
}

function checkCurve(spec) {
  if (spec.xMax < spec.xMin) refuse("xMax", "a number not below xMin");
  spec.series.forEach((s, i) => {
    within(s.panel, spec.panels, `series[${i}].panel`);
    rising(s.points, `series[${i}].points`);
  });
  spec.bands.forEach((b, i) => {
    within(b.panel, spec.panels, `bands[${i}].panel`);
    if (b.to < b.from) refuse(`bands[${i}].to`, "a number not below from");
  });
  spec.refs.forEach((r, i) => within(r.panel, spec.panels, `refs[${i}].panel`));
}

function forward(frames) {
  frames.forEach((f, i) => {
    if (i > 0 && f.t < frames[i - 1].t) refuse(`frames[${i}].t`, "a time that is not before the last one");
  });
}

function checkDrawing(spec) {
  forward(spec.frames);
  spec.frames.forEach((f, i) => {
    for (const shape of f.add) within(shape, spec.shapes, `frames[${i}].add`);
    for (const shape of f.drop) within(shape, spec.shapes, `frames[${i}].drop`);
  });
}

function checkCells(cells, spec, at) {
  for (const [, key] of cells) within(key, spec.keys, at);
}

function checkReplay(spec, kind) {
  if (kind === "cluster" && spec.frames.length !== 1) refuse("frames", "exactly one in a cluster picture");
  spec.replicas.forEach((r, i) => {
    within(r.p, spec.partitions, `replicas[${i}].p`);
    within(r.b, spec.brokers, `replicas[${i}].b`);
    if (r.row >= spec.rows) refuse(`replicas[${i}].row`, `a row below ${spec.rows}`);
  });
  const first = spec.frames[0];
  if (first.brokers.length !== spec.brokers.length || first.partitions.length !== spec.partitions.length ||
      first.logs.length !== spec.replicas.length || first.controllers.length !== spec.controllers.length) refuse("frames[0]", "every broker, controller, partition and log");
  forward(spec.frames);
  spec.frames.forEach((f, i) => {
    f.controllers.forEach((c) => within(c.c, spec.controllers, `frames[${i}].controllers`));
    f.brokers.forEach((b) => within(b.b, spec.brokers, `frames[${i}].brokers`));
    f.partitions.forEach((p) => within(p.p, spec.partitions, `frames[${i}].partitions`));
    f.marks.forEach((m) => within(m[0], spec.partitions, `frames[${i}].marks`));
    f.logs.forEach((l) => {
      within(l.r, spec.replicas, `frames[${i}].logs`);
      if (l.end < l.start) refuse(`frames[${i}].logs.end`, "an offset not below start");
      checkCells(l.add, spec, `frames[${i}].logs.add`);
      checkCells(l.gone, spec, `frames[${i}].logs.gone`);
    });
  });
}

// readChart checks an envelope (the MIME type's value) and returns a copy whose spec is an object.
function readChart(data) {
  const chart = envelopeShape(data, "chart");
  if (!/^[a-z0-9-]{1,40}$/.test(chart.id)) refuse("chart.id", "1 to 40 of a-z, 0-9 and -");
  let spec;
  try {
    spec = JSON.parse(chart.spec);
  } catch {
    refuse("chart.spec", "a JSON text");
  }
  if (chart.kind === "curve") {
    chart.spec = curveShape(spec, "spec");
    checkCurve(chart.spec);
  } else if (chart.kind === "drawing") {
    chart.spec = drawingShape(spec, "spec");
    checkDrawing(chart.spec);
  } else {
    chart.spec = replayShape(spec, "spec");
    checkReplay(chart.spec, chart.kind);
  }
  return chart;
}

// readAlt is the alternative text of a chart that was refused, as far as it is text.
function readAlt(data) {
  const alt = typeof data === "object" && data !== null && own(data, "alt") ? data.alt : "";
  return typeof alt === "string" ? alt.slice(0, 2000) : "";
}
