package connect

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Workers and their group (K-1, K-2, K-5, K-6).
//
// A worker that joins, leaves or dies makes a rebalance; so does a new connector, and the end of the delay. Members hear of
// it with their next heartbeat. A dead one is missed when session.timeout.ms have passed since its last heartbeat, and until
// then no round can end.
//
// Kafka: WorkerGroupMember, WorkerCoordinator, DistributedHerder.

type workerState uint8

// before marks what a worker was before it was started again.
const before = " (before)"

const (
	workerUp workerState = iota
	workerCrashed
	workerStopped
)

// Worker is a handle on a worker process.
type Worker struct {
	k      *Connect
	name   string
	id     string // a member's id: another one each time that the worker starts
	state  workerState
	member bool          // the group counts it, dead or alive
	joined time.Duration // by Connect's clock; its heartbeats count from here
	died   time.Duration
	items  []item
	tasks  []*task
}

// group is the workers' group.
type group struct {
	assignor   assignor
	generation int
	joins      int
	pending    bool // a rebalance has begun …
	since      time.Duration
	events     []string // what happened, for Status
}

// StartWorker starts a worker, or one that has ended again. It joins the group.
func (k *Connect) StartWorker(name string) *Worker {
	k.wake()
	defer k.sleep()
	where := fmt.Sprintf("StartWorker(%q)", name)
	if name == "" {
		misuse(where, "a worker needs a name, such as \"w1\"")
	}
	i := slices.IndexFunc(k.workers, func(w *Worker) bool { return w.name >= name })
	switch {
	case i >= 0 && k.workers[i].name == name && k.workers[i].state == workerUp:
		misuse(where, "it is running")
	case k.standalone && len(k.workers) > 0 && k.workers[0].name != name:
		misuse(where, "standalone mode is one worker; connect.New makes a cluster of them")
	case i >= 0 && k.workers[i].name == name:
		w := k.workers[i]
		if w.member { // a new process is a new member; the old one is missed in its time
			w.member = false
			k.group.ghost(k, w)
		}
		w.state, w.items, w.tasks = workerUp, nil, nil
		w.join()
		return w
	case i < 0:
		i = len(k.workers)
	}
	w := &Worker{k: k, name: name}
	k.workers = slices.Insert(k.workers, i, w)
	w.join()
	return w
}

// ghost lets the member that a process was before it was started again be missed: no round ends before its session does.
func (g *group) ghost(k *Connect, w *Worker) {
	k.workers = append(k.workers, &Worker{k: k, name: w.name + before, id: w.id, state: workerCrashed, member: true, joined: w.joined, died: w.died, items: w.items})
}

func (w *Worker) join() {
	w.k.group.joins++
	w.id = fmt.Sprintf("%s-%d", w.name, w.k.group.joins)
	w.member, w.joined = true, w.k.now()
	w.k.group.rebalanceBy(w.k, "worker "+w.name+" joins")
}

// Worker is the worker with this name.
func (k *Connect) Worker(name string) *Worker {
	var names []string
	for _, w := range k.workers {
		if w.name == name {
			return w
		}
		names = append(names, w.name)
	}
	misuse(fmt.Sprintf("Worker(%q)", name), "there is no worker of this name%s", nearest(name, names))
	return nil
}

func (k *Connect) memberWith(id string) *Worker {
	return k.workers[slices.IndexFunc(k.workers, func(w *Worker) bool { return w.id == id })]
}

// Crash ends the worker's process at once, and the clients of its tasks with it. The others learn of it when its session
// ends.
func (w *Worker) Crash() *Worker {
	w.needsUp("Crash")
	w.k.wake()
	defer w.k.sleep()
	for _, t := range w.tasks {
		t.crash()
	}
	w.state, w.died, w.tasks = workerCrashed, w.k.now(), nil
	return w
}

// Stop ends the worker in order: its tasks stop, write their offsets, and it leaves the group.
func (w *Worker) Stop() *Worker {
	w.needsUp("Stop")
	w.k.wake()
	defer w.k.sleep()
	w.stopTasks(w.items)
	w.state, w.member, w.items = workerStopped, false, nil
	w.k.group.rebalanceBy(w.k, "worker "+w.name+" leaves")
	return w
}

// Start starts a worker that has ended again.
func (w *Worker) Start() *Worker { return w.k.StartWorker(w.name) }

func (w *Worker) needsUp(verb string) {
	if w.state != workerUp {
		misuse(fmt.Sprintf("worker %q: %s", w.name, verb), "it is not running; StartWorker(%q) first", w.name)
	}
}

// Has lists the connectors and tasks that the worker runs, such as "db" and "db-0".
func (w *Worker) Has() []string {
	var out []string
	if w.state == workerUp {
		for _, i := range w.items {
			out = append(out, i.String())
		}
	}
	return out
}

// String says what the worker has.
func (w *Worker) String() string {
	switch w.state {
	case workerCrashed:
		return "worker " + w.name + ": crashed"
	case workerStopped:
		return "worker " + w.name + ": stopped"
	}
	if len(w.items) == 0 {
		return "worker " + w.name + ": nothing to do"
	}
	return "worker " + w.name + ": " + strings.Join(w.Has(), " ")
}

// turn lets each of the worker's tasks do something.
func (w *Worker) turn(k *Connect) {
	if w.state != workerUp {
		return
	}
	for _, t := range w.tasks {
		t.turn(k)
	}
}

// stopTasks stops the tasks among these items.
func (w *Worker) stopTasks(items []item) {
	w.tasks = slices.DeleteFunc(w.tasks, func(t *task) bool {
		gone := slices.Contains(items, t.id)
		if gone {
			t.stop(w.k)
		}
		return gone
	})
}

// take makes the worker's items those of an assignment.
func (w *Worker) take(next []item) {
	w.stopTasks(without(w.items, next))
	fresh := without(next, w.items)
	w.items = next
	for _, i := range fresh {
		if i.isTask() {
			t := &task{id: i, conf: w.k.find(i.Connector).conf, worker: w.name}
			w.tasks = append(w.tasks, t)
			t.start(w.k)
		} else {
			w.k.log.status(w.k, i, w.k.itemStatus(i).State, w.name)
		}
	}
}

// rebalanceBy begins a rebalance, and says why.
func (g *group) rebalanceBy(k *Connect, why string) {
	g.events = append(g.events, fmt.Sprintf("t=%v  rebalance: %s", k.c.Now(), why))
	if !g.pending {
		g.pending, g.since = true, k.now()
	}
}

// goOn misses dead members, ends the delay, and ends a rebalance that everybody has heard of.
func (g *group) goOn(k *Connect) {
	for i := 0; i < len(k.workers); i++ {
		w := k.workers[i]
		if w.member && w.state == workerCrashed && k.now() >= w.expires() {
			w.member = false
			w.items = nil
			if strings.HasSuffix(w.name, before) {
				k.workers = slices.Delete(k.workers, i, i+1)
				i--
			}
			g.rebalanceBy(k, "worker "+w.name+" is missed")
		}
	}
	if at := g.assignor.scheduled; !g.pending && at > 0 && k.now() >= at {
		g.rebalanceBy(k, "the delay is over")
		g.since = 0 // all have known the time
	}
	for g.pending && g.heard(k) {
		g.round(k)
	}
}

// expires is when a dead worker's session ends: its last heartbeat was before it died.
func (w *Worker) expires() time.Duration {
	beat := w.k.conf.heartbeat
	return w.joined + (w.died-w.joined)/beat*beat + w.k.conf.session
}

// heard tells whether all members have joined this round: each at its next heartbeat.
func (g *group) heard(k *Connect) bool {
	for _, w := range k.workers {
		if !w.member {
			continue
		}
		if w.state != workerUp {
			return false
		}
		if beat := k.conf.heartbeat; w.joined < g.since && g.since > 0 {
			if next := w.joined + ((g.since-w.joined)/beat+1)*beat; k.now() < next {
				return false
			}
		}
	}
	return true
}

// round ends a rebalance. What is revoked makes the next one.
func (g *group) round(k *Connect) {
	g.pending = false
	var current []load
	for _, w := range k.workers {
		if w.member {
			current = append(current, load{w.id, slices.Clone(w.items)})
		}
	}
	if len(current) == 0 {
		return
	}
	var configured []item
	for _, x := range k.connectors {
		configured = append(configured, x.items()...)
	}
	g.generation++
	next, revoked := g.assignor.round(k.now(), current, configured)
	var all []string
	for i := range next {
		w := k.memberWith(next[i].Worker)
		w.take(next[i].Items)
		all = append(all, w.String())
	}
	line := fmt.Sprintf("t=%v  generation %d: %s", k.c.Now(), g.generation, strings.Join(all, "; "))
	if len(revoked) > 0 {
		line += fmt.Sprintf("; revoked %v", revoked)
		g.rebalanceBy(k, "what was revoked is free")
	}
	if g.assignor.scheduled > 0 {
		line += fmt.Sprintf("; what is lost waits %v", g.assignor.scheduled-k.now())
	}
	g.events = append(g.events, line)
}
