// A drawing: shapes laid out in Go and drawn here in the colours of the page. Each frame says which shapes
// come and which go. The same shapes make the PNG (../../drawing_svg.go).

const DASHES = { dash: "4 3", dot: "1.5 2.5" };

// drawShape makes the element of one shape.
function drawShape(s, ink) {
  const made = SHAPES[s.k](s, ink);
  if (s.o) made.setAttribute("opacity", s.o);
  if (s.tip) made.prepend(svg("title", {}, s.tip)); // the browser shows it at the pointer
  return made;
}

function strokeOf(s, ink) {
  const stroke = { stroke: inkOf(s.s, ink), "stroke-width": s.sw || 1 };
  if (s.d) stroke["stroke-dasharray"] = DASHES[s.d];
  return stroke;
}

// arrowHead is the tip of an arrow that ends at (x, y) and comes by (dx, dy).
function arrowHead(x, y, dx, dy, fill) {
  const length = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / length, dy / length];
  const at = (back, side) => `${(x - back * ux - side * uy).toFixed(2)} ${(y - back * uy + side * ux).toFixed(2)}`;
  return svg("path", { d: `M${at(0, 0)}L${at(7, 3)}L${at(7, -3)}Z`, fill });
}

const SHAPES = {
  rect: (s, ink) => svg("g", {}, box(s.x, s.y, s.w, s.h, s.r, { fill: inkOf(s.f, ink), ...strokeOf(s, ink) })),
  line: (s, ink) => svg("g", {}, straight(s.x, s.y, s.x + s.w, s.y + s.h, strokeOf(s, ink))),
  arrow: (s, ink) => svg("g", {},
    straight(s.x, s.y, s.x + s.w, s.y + s.h, { stroke: "transparent", "stroke-width": 9 }), // easy to point at
    straight(s.x, s.y, s.x + s.w, s.y + s.h, strokeOf(s, ink)), arrowHead(s.x + s.w, s.y + s.h, s.w, s.h, inkOf(s.s, ink))),
  circle: (s, ink) => svg("g", {}, svg("circle", { cx: s.x, cy: s.y, r: s.r, fill: inkOf(s.f, ink), ...strokeOf(s, ink) })),
  text: (s, ink) => svg("g", {}, label(s.x, s.y, s.sz, inkOf(s.f, ink), s.t, { ...(s.b ? bold : {}), ...(s.a ? { "text-anchor": s.a } : {}) })),
  cell: (s, ink) => {
    const made = svg("g");
    const cell = [0, s.key, 0, s.m];
    if (s.as === "ghost") drawGhost(made, cell, s.x, s.y, ink);
    else drawCell(made, cell, s.x, s.y, s.as === "", ink);
    return made;
  },
  star: (s, ink) => svg("g", {}, star(s.x, s.y, s.r, ink)),
  cross: (s, ink) => svg("g", {}, cross(s.x, s.y, s.r, s.sw || 2, inkOf(s.s, ink))),
  tick: (s, ink) => svg("g", {}, tick(s.x, s.y, s.r, inkOf(s.s, ink))),
  ring: (s, ink) => svg("g", {}, ring(s.x, s.y, s.r, inkOf(s.s, ink))),
  flag: (s, ink) => svg("g", {}, highWatermark(s.x, s.y, s.h, ink)),
};

// drawingSteps folds the frames: for each, the shapes that stand there, as they lie on each other.
function drawingSteps(spec) {
  let there = new Set();
  const order = (a, b) => spec.shapes[a].z - spec.shapes[b].z || a - b;
  return spec.frames.map((f) => {
    there = new Set(there);
    for (const i of f.drop) there.delete(i);
    for (const i of f.add) there.add(i);
    return { t: f.t, words: f.words, event: f.event, shapes: [...there].sort(order) };
  });
}

function drawDrawing(into, spec, step, ink) {
  sizeOf(into, spec.width, spec.height);
  into.replaceChildren(...step.shapes.map((i) => drawShape(spec.shapes[i], ink)));
}
