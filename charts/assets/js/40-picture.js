// The cluster picture as SVG: the same geometry and the same signs as the Go side draws for the PNG
// (../../layout.go and ../../draw.go), in the colours of the page's theme.

const BOX_GAP = 12;
const BOXES_TOP = 30;
const BOX_HEADER = 28;
const BOX_MAX_WIDTH = 404;
const ROW_HEIGHT = 62;
const BOX_FOOT = 4;
const BOX_PAD = 10;
const ELLIPSIS_SLOT = 14;
const PICTURE_WIDTH = 820;
const CELL_PITCH = 19;
const CELL_WIDTH = 16;
const STRIP_TOP = 20;
const STRIP_HEIGHT = 24;
const LEGEND_TOP = 8;
const LEGEND_LINE = 18;
const CLIENT_LINE = 17;
const CLIENTS_TOP = 6;
const CHIP_BASE = 24;
const CHIP_LETTER = 7.1;
const CHIP_MORE = 112; // for "and 120 more keys"
const MAX_KEY_LINES = 2;
const MAX_CHIP_TEXT = 18;
const CONTROLLER_HEIGHT = 26;
const CONTROLLER_PITCH = 34;
const CONTROLLER_COLUMNS = 3;
const WIRE_HEAD = 24;
const WIRE_LINE = 18;

const STATE_TEXT = {
  up: "running", starting: "starting", stopping: "shutting down", fenced: "running, fenced", paused: "silent", down: "down",
};

const CONTROLLER_TEXT = {
  active: "active", leader: "leads", follower: "follower", candidate: "asks for votes", unattached: "looks for a leader", paused: "silent", down: "down",
};

const label = (x, y, size, fill, string, more = {}) => svg("text", { x, y, "font-size": size, fill, ...more }, string);
const bold = { "font-weight": "bold" };
const middle = { "text-anchor": "middle" };
const end = { "text-anchor": "end" };
const box = (x, y, width, height, rx, more) => svg("rect", { x, y, width, height, rx, ...more });
const straight = (x1, y1, x2, y2, more) => svg("line", { x1, y1, x2, y2, ...more });

// shorten keeps the beginning and the end of a long name: partitions differ at the end.
function shorten(name, most) {
  const letters = [...name];
  if (letters.length <= most) return name;
  const tail = Math.floor((most - 1) / 2);
  return `${letters.slice(0, most - 1 - tail).join("")}…${letters.slice(letters.length - tail).join("")}`;
}

// cutEnd shortens a sentence at its end.
function cutEnd(sentence, most) {
  const letters = [...sentence];
  return letters.length <= most ? sentence : `${letters.slice(0, Math.max(most - 1, 0)).join("")}…`;
}

function letterOf(key) {
  if (key < 0) return "·";
  if (key < 26) return String.fromCharCode(65 + key);
  if (key < 52) return String.fromCharCode(97 + key - 26);
  return "#";
}

function fillOf(key, ink) {
  if (key < 0) return { fill: ink.noKey, text: ink.soft, onFill: ink.onNoKey };
  return { fill: ink.palette[key % 6], text: ink.paletteText[key % 6], onFill: ink.letters[key % 6] };
}

// Marks are paths: fonts lack the glyphs, and a missing glyph is no picture at all.

const STAR = Array.from({ length: 10 }, (_, i) => {
  const r = i % 2 ? 0.42 : 1;
  const angle = (i * Math.PI) / 5 - Math.PI / 2;
  return [r * Math.cos(angle), r * Math.sin(angle)];
});

function star(x, y, radius, ink) {
  const d = STAR.map(([dx, dy], i) => `${i ? "L" : "M"}${(x + radius * dx).toFixed(2)} ${(y + radius * dy).toFixed(2)}`).join("");
  return svg("path", { d: `${d}Z`, fill: "#E69F00", stroke: ink.starEdge, "stroke-width": 1, "stroke-linejoin": "round" });
}

function cross(x, y, reach, width, stroke) {
  const d = `M${x - reach} ${y - reach}L${x + reach} ${y + reach}M${x + reach} ${y - reach}L${x - reach} ${y + reach}`;
  return svg("path", { d, fill: "none", stroke, "stroke-width": width, "stroke-linecap": "round" });
}

function tick(x, y, reach, stroke) {
  const d = `M${x - reach} ${y}L${x - reach / 3} ${y + reach * 0.7}L${x + reach} ${y - reach * 0.8}`;
  return svg("path", { d, fill: "none", stroke, "stroke-width": 1.5, "stroke-linecap": "round", "stroke-linejoin": "round" });
}

const ring = (x, y, r, stroke) => svg("circle", { cx: x, cy: y, r, fill: "none", stroke, "stroke-width": 1.2 });

function markShape(mark, x, y, size, colour, ink) {
  if (mark === 1) return tick(x, y, 3 * size, colour);
  if (mark === 2) return cross(x, y, 2.6 * size, 1.8, ink.alarmInk);
  return ring(x, y, 2.2 * size, colour);
}

// drawSign draws what stands in a cell: the key's letter above the mark, or, without a key, the mark
// alone and larger.
function drawSign(into, [, key, , mark], x, top, style, colour, patch, ink) {
  const keyed = key >= 0;
  const size = keyed ? 1 : 1.5;
  const y = top + (keyed ? 18.2 : 12);
  if (keyed) into.appendChild(label(x + CELL_WIDTH / 2, top + 12, 11, colour, letterOf(key), { ...style, ...middle }));
  if (patch && mark === 2) into.appendChild(box(x + 2.5, y - 4.7 * size, CELL_WIDTH - 5, 9.5 * size, 2, { fill: ink.paper }));
  into.appendChild(markShape(mark, x + CELL_WIDTH / 2, y, size, colour, ink));
}

// highWatermark is the blue bar with its small flag.
function highWatermark(x, y, height, ink) {
  return svg("g", { fill: ink.hw }, box(x - 1.5, y, 3, height, 1.5, {}), svg("path", { d: `M${x - 4.5} ${y}L${x + 4.5} ${y}L${x} ${y + 5}Z` }));
}

// pictureLayout says where everything goes. In a narrow window the boxes stand below each other, each as high as its
// own logs need, so that the letters stay as large as they are.
function pictureLayout(spec, width) {
  const narrow = width > 0 && width < NARROW;
  const columns = narrow ? 1 : spec.columns;
  const full = narrow ? BOX_MAX_WIDTH : PICTURE_WIDTH;
  const across = narrow ? 1 : CONTROLLER_COLUMNS;
  const boxWidth = Math.min(Math.floor((full - BOX_GAP * (columns - 1)) / columns), BOX_MAX_WIDTH);
  const heightOf = (rows) => BOX_HEADER + Math.max(rows, 1) * ROW_HEIGHT + BOX_FOOT;
  const top = BOXES_TOP + Math.ceil(spec.controllers.length / across) * CONTROLLER_PITCH;
  // rows are where each replica stands in its box: by partition, so that a row is one partition, or close together.
  const rows = spec.replicas.map((place, r) => (narrow ? spec.replicas.filter((p, i) => p.b === place.b && i < r).length : place.row));
  const boxes = [];
  let y = top;
  spec.brokers.forEach((_, b) => {
    const height = heightOf(narrow ? spec.replicas.filter((p) => p.b === b).length : spec.rows);
    boxes.push({ x: (b % columns) * (boxWidth + BOX_GAP), y, height });
    if ((b + 1) % columns === 0 || b === spec.brokers.length - 1) y += height + BOX_GAP;
  });
  return { narrow, full, across, boxWidth, boxes, rows, bottom: y };
}

// sizeOf gives an <svg> its size.
function sizeOf(into, width, height) {
  for (const [name, value] of [["width", width], ["height", height], ["viewBox", `0 0 ${width} ${height}`],
    ["preserveAspectRatio", "xMinYMin meet"]]) into.setAttribute(name, value);
}

// drawPicture fills an <svg> with the picture of a state and gives its size.
function drawPicture(into, spec, state, ink, width) {
  const { narrow, full, across, boxWidth, boxes, rows, bottom } = pictureLayout(spec, width);
  const parts = [label(2, 19, 15, ink.ink, spec.title, bold)];
  spec.controllers.forEach((_, c) => {
    const w = Math.floor((full - BOX_GAP * (across - 1)) / across);
    parts.push(drawController(spec, state, c, (c % across) * (w + BOX_GAP), BOXES_TOP + Math.floor(c / across) * CONTROLLER_PITCH, w, ink));
  });
  spec.brokers.forEach((_, b) => parts.push(drawBroker(spec, state, b, boxes[b], boxWidth, rows, ink)));
  const legend = drawLegend(spec, bottom + LEGEND_TOP, full, narrow, ink);
  parts.push(legend.drawn);
  let y = legend.bottom + CLIENTS_TOP;
  for (const client of state.clients) {
    for (const line of narrow ? wrap(client, 62) : [client]) {
      parts.push(label(2, y + 8, 12, ink.ink, line));
      y += CLIENT_LINE;
    }
  }
  if (spec.wire.length) {
    parts.push(drawWire(spec, y, full, narrow, ink));
    y += WIRE_HEAD + spec.wire.length * WIRE_LINE;
  }
  const height = narrow ? y + (longest(spec) - state.clients.reduce((n, c) => n + wrap(c, 62).length, 0)) * CLIENT_LINE : spec.height;
  sizeOf(into, full, height);
  into.replaceChildren(...parts);
  return { width: full, height };
}

// longest is how many lines about clients any moment has in a narrow window: the height of a picture that
// steps must not depend on the moment.
const counted = new WeakMap();
function longest(spec) {
  if (!counted.has(spec)) {
    const lines = spec.frames.map((f) => (f.clients ?? []).reduce((n, c) => n + wrap(c, 62).length, 0));
    counted.set(spec, Math.max(0, ...lines));
  }
  return counted.get(spec);
}

// wrap breaks a line at its spaces.
function wrap(line, most) {
  const out = [""];
  for (const word of line.split(" ")) {
    const last = out[out.length - 1];
    if (last && last.length + word.length + 1 > most) out.push(word);
    else out[out.length - 1] = last ? `${last} ${word}` : word;
  }
  return out;
}

function drawController(spec, state, c, x, y, width, ink) {
  const { state: is, epoch } = state.controllers[c];
  const off = is === "down";
  const leads = is === "active" || is === "leader";
  const dashed = off || is === "paused" ? { "stroke-dasharray": "5 4" } : {};
  const right = x + width - BOX_PAD;
  const says = off ? CONTROLLER_TEXT[is] : `${CONTROLLER_TEXT[is]}, epoch ${epoch}`;
  const group = svg("g", {},
    box(x + 0.5, y + 0.5, width - 1, CONTROLLER_HEIGHT - 1, 6, { fill: off ? ink.boxDown : ink.box, stroke: ink.line, ...dashed }),
    label(x + BOX_PAD + (leads ? 15 : 0), y + 17.5, 12, off ? ink.soft : ink.ink, `controller ${spec.controllers[c]}`, bold),
    label(off ? right - 14 : right, y + 17.5, 11, leads || is === "follower" ? ink.soft : ink.alarmInk, says, end));
  if (leads) group.appendChild(star(x + BOX_PAD + 5, y + 13, 6, ink));
  if (off) group.appendChild(cross(right - 4, y + 13.5, 4, 2.4, ink.alarmInk));
  return group;
}

// drawWire lists what is on the wire, and the links that are cut.
function drawWire(spec, y, full, narrow, ink) {
  const drawn = svg("g", {}, label(2, y + 14, 12, ink.ink, "On the wire", bold));
  const [from, to] = narrow ? [78, 104] : [104, 146];
  spec.wire.forEach(({ from: sender, to: target, text: says, when, state }, i) => {
    const top = y + WIRE_HEAD + i * WIRE_LINE;
    const stroke = state === "" ? ink.ink : ink.alarmInk;
    const letters = narrow ? 14 : 18;
    drawn.append(label(from - 8, top + 9, 11, ink.ink, shorten(sender, letters), end),
      straight(from, top + 5, to, top + 5, { stroke, "stroke-width": 1.4, ...(state === "" ? {} : { "stroke-dasharray": "4 3" }) }),
      label(to + 10, top + 9, 11, ink.ink, shorten(target, letters)),
      label(to + 112, top + 9, 11, ink.ink, shorten(says, narrow ? 26 : 62)));
    if (!narrow) drawn.append(label(full - 2, top + 9, 11, state === "" ? ink.soft : ink.alarmInk, when, end));
    if (state === "cut") drawn.append(cross((from + to) / 2, top + 5, 4, 2, ink.alarmInk));
    else drawn.append(arrowHead(to, top + 5, 1, 0, stroke));
  });
  return drawn;
}

function drawBroker(spec, state, b, { x, y, height }, width, rows, ink) {
  const is = state.brokers[b];
  const down = is === "down";
  const dashed = down || is === "paused" ? { "stroke-dasharray": "5 4" } : {};
  const right = x + width - BOX_PAD;
  const group = svg("g", {},
    box(x + 0.5, y + 0.5, width - 1, height - 1, 6, { fill: down ? ink.boxDown : ink.box, stroke: ink.line, ...dashed }),
    label(x + BOX_PAD, y + 19, 13, down ? ink.soft : ink.ink, `broker ${spec.brokers[b]}`, bold),
    label(down ? right - 16 : right, y + 19, 11, is === "up" ? ink.soft : ink.alarmInk, STATE_TEXT[is], end),
    straight(x + 1, y + BOX_HEADER, x + width - 1, y + BOX_HEADER, { stroke: ink.line }));
  if (down) group.appendChild(cross(right - 5, y + 14.5, 5, 2.6, ink.alarmInk));
  const logs = svg("g", down ? { opacity: 0.62 } : {});
  spec.replicas.forEach((place, r) => {
    if (place.b === b) drawReplica(logs, spec, state, r, x, y + BOX_HEADER + rows[r] * ROW_HEIGHT, width, ink);
  });
  group.appendChild(logs);
  return group;
}

// drawReplica draws one log: name and numbers, the strip of cells, the offsets below.
function drawReplica(into, spec, state, r, x, y, width, ink) {
  const log = state.logs[r];
  const place = spec.replicas[r];
  const partition = state.partitions[place.p];
  const leads = log.role === "leader";
  const left = x + BOX_PAD + (leads ? 15 : 0);
  const name = label(left, y + 15, 12, ink.ink, shorten(spec.partitions[place.p], width < 250 ? 10 : 18), bold);
  if (!partition.isr.includes(spec.brokers[place.b])) {
    name.appendChild(svg("tspan", { dx: 7, "font-size": 10.5, "font-weight": "normal", fill: ink.alarmInk }, "out of ISR"));
  }
  const cellsX = x + BOX_PAD + ELLIPSIS_SLOT;
  const top = y + STRIP_TOP;
  into.append(name,
    label(x + width - BOX_PAD, y + 15, 11, ink.soft, `hw ${log.hw}  leo ${log.end}`, { ...end, "xml:space": "preserve" }),
    straight(cellsX, top + STRIP_HEIGHT + 1.5, cellsX + spec.cells * CELL_PITCH, top + STRIP_HEIGHT + 1.5, { stroke: ink.line }));
  if (leads) into.appendChild(star(x + BOX_PAD + 5, y + 10.5, 6, ink));
  if (log.start < partition.from && log.end > log.start) {
    for (let i = 0; i < 3; i++) into.appendChild(svg("circle", { cx: x + BOX_PAD + 1 + i * 4, cy: top + STRIP_HEIGHT / 2, r: 1.2, fill: ink.soft }));
  }
  drawCells(into, log, partition.from, spec.cells, cellsX, top, ink);
  const at = log.hw - partition.from;
  if (at >= 0 && at <= spec.cells) into.appendChild(highWatermark(cellsX + at * CELL_PITCH - 1.5, top - 2, STRIP_HEIGHT + 6, ink));
}

function drawCells(into, log, from, slots, x, top, ink) {
  const visible = log.cells.filter((c) => c[0] >= from && c[0] < from + slots);
  const below = { ...middle };
  visible.forEach((c, i) => {
    const cx = x + (c[0] - from) * CELL_PITCH;
    drawCell(into, c, cx, top, c[0] < log.hw, ink);
    if (i > 0 && visible[i - 1][2] !== c[2]) {
      into.append(label(cx + CELL_WIDTH / 2, top + STRIP_HEIGHT + 12, 9, ink.paletteText[3], `e${c[2]}`, { ...below, ...bold }),
        straight(cx - 1.5, top - 2, cx - 1.5, top + STRIP_HEIGHT + 6, { stroke: ink.paletteText[3], "stroke-width": 1.2 }));
    } else if (i === 0 || c[0] % 5 === 0) {
      into.appendChild(label(cx + CELL_WIDTH / 2, top + STRIP_HEIGHT + 12, 9, ink.soft, String(c[0]), below));
    }
  });
  for (const c of log.gone) {
    if (c[0] >= from && c[0] < from + slots) drawGhost(into, c, x + (c[0] - from) * CELL_PITCH, top, ink);
  }
}

function drawCell(into, cell, x, top, committed, ink) {
  const { fill, text, onFill } = fillOf(cell[1], ink);
  const letter = committed ? onFill : text;
  into.appendChild(committed ? box(x, top, CELL_WIDTH, STRIP_HEIGHT, 2.5, { fill })
    : box(x + 0.7, top + 0.7, CELL_WIDTH - 1.4, STRIP_HEIGHT - 1.4, 2.5, { fill: ink.paper, stroke: text, "stroke-width": 1.3, "stroke-dasharray": "2.5 2" }));
  drawSign(into, cell, x, top, bold, letter, committed, ink);
}

// drawGhost draws a cell that was cut off in this frame.
function drawGhost(into, cell, x, top, ink) {
  into.appendChild(box(x + 0.7, top + 0.7, CELL_WIDTH - 1.4, STRIP_HEIGHT - 1.4, 2.5, { fill: "none", stroke: ink.faint, "stroke-dasharray": "1.5 2" }));
  drawSign(into, cell, x, top, {}, ink.faint, false, ink);
  into.appendChild(straight(x - 1, top + STRIP_HEIGHT / 2, x + CELL_WIDTH + 1, top + STRIP_HEIGHT / 2, { stroke: ink.alarmInk, "stroke-width": 1.6 }));
}

// letters counts the letters of a text; those that are wide in most fonts count twice.
const letters = (string) => [...string].reduce((n, c) => n + (c.codePointAt(0) >= 0x1100 ? 2 : 1), 0);

// chips places the keys; widths are estimated from the number of letters, so that Go and we agree.
function chips(keys, width) {
  const placed = [];
  let x = 0;
  let line = 0;
  for (let i = 0; i < keys.length; i++) {
    const string = shorten(keys[i], MAX_CHIP_TEXT);
    const w = CHIP_BASE + CHIP_LETTER * letters(string);
    if (x > 0 && x + w > width - CHIP_MORE && line === MAX_KEY_LINES - 1) {
      const left = keys.length - i;
      placed.push({ key: -2, string: `and ${left} more ${left === 1 ? "key" : "keys"}`, x, line });
      break;
    }
    if (x > 0 && x + w > width) {
      x = 0;
      line++;
    }
    placed.push({ key: i, string, x, line });
    x += w;
  }
  return { placed, lines: keys.length ? line + 1 : 0 };
}

function drawLegend(spec, y, full, narrow, ink) {
  const { placed, lines } = chips(spec.keys, full);
  const drawn = svg("g");
  for (const { key, string, x, line } of placed) {
    const top = y + line * LEGEND_LINE;
    if (key === -2) {
      drawn.appendChild(label(x + 2, top + 11, 11.5, ink.soft, string));
      continue;
    }
    const { fill, onFill } = fillOf(key, ink);
    drawn.append(box(x + 2, top, 14, 14, 2.5, { fill }), label(x + 9, top + 11, 10.5, onFill, letterOf(key), { ...bold, ...middle }),
      label(x + 20, top + 11, 11.5, ink.ink, string));
  }
  const below = y + lines * LEGEND_LINE;
  if (!narrow) drawSigns(drawn, below, SIGNS_AT, ink);
  else NARROW_SIGNS.forEach((at, i) => drawSigns(drawn, below + i * LEGEND_LINE, at, ink));
  return { drawn, bottom: below + (narrow ? NARROW_SIGNS.length : 1) * LEGEND_LINE };
}

// Where each sign of the legend begins, in one line or, in a narrow window, in four.
const SIGNS_AT = { leader: 2, hw: 62, committed: 172, open: 254, acked: 319, written: 415, lost: 573, epoch: 723 };
const NARROW_SIGNS = [{ leader: 2, hw: 80, epoch: 210 }, { committed: 2, open: 110 }, { acked: 2, written: 110 }, { lost: 2 }];

// drawSigns is a line that explains signs.
function drawSigns(into, y, at, ink) {
  const say = (x, string) => label(x, y + 11, 10.4, ink.soft, string); // a wide font must not run into the next sign
  const signs = {
    leader: (x) => [star(x + 6, y + 7, 6, ink), say(x + 16, "leader")],
    hw: (x) => [highWatermark(x + 6, y - 1, 16, ink), say(x + 15, "high watermark")],
    committed: (x) => [box(x, y, 11, 14, 2, { fill: ink.soft }), say(x + 16, "committed")],
    open: (x) => [box(x, y + 0.7, 10, 12.6, 2, { fill: ink.paper, stroke: ink.soft, "stroke-width": 1.3, "stroke-dasharray": "2.5 2" }), say(x + 15, "not yet")],
    acked: (x) => [tick(x + 4, y + 7, 4, ink.ink), say(x + 13, "acknowledged")],
    written: (x) => [ring(x + 3, y + 7, 3, ink.ink), say(x + 11, "written, not acknowledged")],
    lost: (x) => [cross(x + 4, y + 7, 3.4, 2, ink.alarmInk), say(x + 13, "acknowledged, then lost")],
    epoch: (x) => [label(x, y + 11, 9.5, ink.paletteText[3], "e1", bold), say(x + 18, "new epoch")],
  };
  for (const name of Object.keys(at)) into.append(...signs[name](at[name]));
}
