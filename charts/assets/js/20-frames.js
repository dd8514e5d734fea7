// Folding a replay's frames. A state is the whole picture at one frame; frames hold only what changed.

function emptyState(spec) {
  return {
    t: 0, words: [], clients: [],
    brokers: spec.brokers.map(() => "up"),
    controllers: spec.controllers.map(() => ({ state: "down", epoch: 0 })),
    partitions: spec.partitions.map(() => ({ leader: -1, epoch: 0, isr: [], from: 0 })),
    logs: spec.replicas.map(() => ({ role: "offline", start: 0, end: 0, hw: 0, cells: [], gone: [] })),
  };
}

function applyLog(log, delta) {
  const added = new Set(delta.add.map((c) => c[0]));
  const inside = (c) => c[0] >= delta.start && c[0] < delta.end;
  const cells = log.cells.filter((c) => inside(c) && !added.has(c[0])).concat(delta.add);
  cells.sort((a, b) => a[0] - b[0]);
  return { role: delta.role, start: delta.start, end: delta.end, hw: delta.hw, cells, gone: delta.gone };
}

// applyFrame makes the next state; the one before stays as it was, for its parts are never changed in place.
function applyFrame(spec, before, frame) {
  const next = {
    t: frame.t, words: frame.words, clients: frame.clients === null ? before.clients : frame.clients,
    event: frame.event, controllers: before.controllers.slice(), brokers: before.brokers.slice(), partitions: before.partitions.slice(),
    logs: before.logs.map((log) => (log.gone.length ? { ...log, gone: [] } : log)),
  };
  for (const { c, state, epoch } of frame.controllers) next.controllers[c] = { state, epoch };
  for (const { b, state } of frame.brokers) next.brokers[b] = state;
  for (const { p, leader, epoch, isr, from } of frame.partitions) next.partitions[p] = { leader, epoch, isr, from };
  for (const delta of frame.logs) next.logs[delta.r] = applyLog(next.logs[delta.r], delta);
  for (const change of frame.marks) markCells(spec, next, change);
  return next;
}

function markCells(spec, state, [p, from, to, epoch, mark]) {
  const marked = (c) => (c[2] === epoch && c[0] >= from && c[0] < to ? [c[0], c[1], c[2], mark] : c);
  spec.replicas.forEach((place, r) => {
    if (place.p !== p) return;
    const log = state.logs[r];
    state.logs[r] = { ...log, cells: log.cells.map(marked) };
  });
}

// statesOf folds all frames once: 400 states that share what did not change.
function statesOf(spec) {
  let state = emptyState(spec);
  return spec.frames.map((frame) => (state = applyFrame(spec, state, frame)));
}
