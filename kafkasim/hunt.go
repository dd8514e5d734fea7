package kafkasim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/prng"
)

// Hunt looks for a schedule of faults that breaks a claim, in one world after another.
//
//	kafkasim.Hunt{
//		World:    kafkasim.World{Brokers: 3},
//		Scenario: func(c *kafkasim.Cluster) {
//			c.CreateTopic("orders", 1, 3, kafkasim.Config{"min.insync.replicas": 1})
//			c.NewProducer("shop", kafkasim.Config{"acks": "all"}).Every(100*time.Millisecond, "orders")
//		},
//	}.Run()
type Hunt struct {
	// World is the world of each schedule; its seed is counted up.
	World World
	// Scenario makes topics and clients and begins their traffic, before the faults.
	Scenario func(c *Cluster)
	// Check says how the claim is broken in the end, when all faults are mended and time has passed, and "" when it holds.
	// nil is the claim that no record that was acknowledged with acks=all is lost, and that every invariant holds.
	Check func(c *Cluster) string
	// Faults are the kinds that may happen: "crash", "power loss", "stop", "pause", "isolate", "cut", "hold". nil for all.
	Faults []string
	// Seeds is how many schedules are tried. Default 200.
	Seeds int
	// Most is how many faults a schedule has at most. Default 4.
	Most int
	// For is how long faults may begin. Default 30 s. As much again passes when all are mended.
	For time.Duration
}

// Fault is one fault of a schedule.
type Fault struct {
	Kind   string
	Broker int
	Other  int           // of "cut" and "hold": the other broker
	At     time.Duration // since the scenario
	Lasts  time.Duration
}

// String is the fault in words.
func (f Fault) String() string {
	what := fmt.Sprintf("%s broker %d", f.Kind, f.Broker)
	switch f.Kind {
	case "cut":
		what = fmt.Sprintf("cut brokers %d and %d", f.Broker, f.Other)
	case "hold":
		what = fmt.Sprintf("hold the fetches of broker %d to broker %d", f.Broker, f.Other)
	}
	return fmt.Sprintf("%v after the scenario, for %v: %s", f.At, f.Lasts, what)
}

// Hunted is what a hunt has found.
type Hunted struct {
	Tried   int      // schedules
	Found   bool     // one of them breaks the claim
	Broken  string   // how
	Faults  []Fault  // of the shortest such schedule
	Cluster *Cluster // as it was left; for Script, At and the charts. nil when nothing was found
}

// Script is the schedule as a cell that can be run; "" when nothing was found.
func (h *Hunted) Script() Script {
	if h.Cluster == nil {
		return ""
	}
	return h.Cluster.Script()
}

// String tells the outcome.
func (h *Hunted) String() string {
	if !h.Found {
		return fmt.Sprintf("none in %s breaks the claim; that is a search and no proof", plural(h.Tried, "schedule"))
	}
	s := fmt.Sprintf("schedule %d breaks the claim: %s\n", h.Tried, h.Broken)
	if len(h.Faults) == 0 {
		return s + "  without any fault"
	}
	for _, f := range h.Faults {
		s += "  " + f.String() + "\n"
	}
	return s + "Script() is the cell that shows it"
}

var faultKinds = []string{"crash", "power loss", "stop", "pause", "isolate", "cut", "hold"}

// Run tries schedules until one breaks the claim, and then makes that one as short as it can.
func (h Hunt) Run() *Hunted {
	h.check()
	out := &Hunted{}
	for i := range h.Seeds {
		if watch != nil && i > 0 {
			watch("Hunt, schedules", int64(i), int64(h.Seeds))
		}
		out.Tried++
		seed := h.World.Seed + uint64(i)
		faults := h.draw(seed)
		c, why := h.play(seed, faults)
		if why == "" {
			continue
		}
		out.Found = true
		out.Faults, out.Cluster, out.Broken = h.shorten(seed, faults, c, why)
		break
	}
	if watch != nil && out.Tried > 1 {
		watch("Hunt, schedules", int64(out.Tried), int64(out.Tried))
	}
	return out
}

// check refuses what cannot be, and fills in the defaults.
func (h *Hunt) check() {
	const where = "Hunt"
	if h.Scenario == nil {
		misuse(where, "there is no Scenario: want a function that makes topics and clients")
	}
	if h.Seeds < 0 || h.Seeds > 1_000_000 || h.Most < 0 || h.Most > 50 || h.For < 0 || h.For > 24*time.Hour {
		misuse(where, "Seeds %d, Most %d, For %v: want 0 to 1,000,000 schedules, at most 50 faults, at most 24h", h.Seeds, h.Most, h.For)
	}
	for _, f := range h.Faults {
		if !slices.Contains(faultKinds, f) {
			misuse(where, "Faults: there is no fault %q%s", f, meant(f, faultKinds, "there are "+strings.Join(faultKinds, ", ")))
		}
	}
	if h.Faults == nil {
		h.Faults = faultKinds
	}
	if h.Seeds == 0 {
		h.Seeds = 200
	}
	if h.Most == 0 {
		h.Most = 4
	}
	if h.For == 0 {
		h.For = 30 * time.Second
	}
	if h.Check == nil {
		h.Check = func(c *Cluster) string {
			v := c.Check()
			return strings.Join(v.Broken, "; ") + strings.Join(v.Lost, "; ")
		}
	}
}

// huntDraw is the purpose of a hunt's random numbers.
const huntDraw = 900

// draw makes a schedule from a seed.
func (h *Hunt) draw(seed uint64) []Fault {
	n := uint64(0)
	below := func(most int) int {
		n++
		return prng.Below(prng.Draw(seed, huntDraw, n), most)
	}
	brokers := h.World.Brokers
	if brokers == 0 {
		brokers = 3
	}
	ms := int(h.For / time.Millisecond)
	var faults []Fault
	for range 1 + below(h.Most) {
		f := Fault{Kind: h.Faults[below(len(h.Faults))], Broker: 1 + below(brokers)}
		f.Other = 1 + (f.Broker+below(max(brokers-1, 1)))%brokers
		f.At = time.Duration(below(ms)) * time.Millisecond
		f.Lasts = time.Duration(1+below(ms)) * time.Millisecond
		faults = append(faults, f)
	}
	slices.SortStableFunc(faults, func(a, b Fault) int { return int(a.At - b.At) })
	return faults
}

// play lets a schedule happen and asks the claim.
func (h *Hunt) play(seed uint64, faults []Fault) (*Cluster, string) {
	w := h.World
	w.Seed = seed
	c := New(w)
	h.Scenario(c)
	start := c.Now()
	type moment struct {
		at    time.Duration
		fault Fault
		ends  bool
	}
	var moments []moment
	for _, f := range faults {
		moments = append(moments, moment{f.At, f, false}, moment{f.At + f.Lasts, f, true})
	}
	slices.SortStableFunc(moments, func(a, b moment) int { return int(a.at - b.at) })
	for _, m := range moments {
		if d := start + m.at - c.Now(); d > 0 {
			c.RunFor(d)
		}
		if m.ends {
			c.mend(m.fault)
		} else {
			c.strike(m.fault)
		}
	}
	c.mendAll()
	c.RunFor(h.For)
	return c, h.Check(c)
}

// strike lets a fault happen, if it can happen now.
func (c *Cluster) strike(f Fault) {
	b := c.Broker(f.Broker)
	running := b.alive() && !b.state().Paused
	switch f.Kind {
	case "crash":
		if b.alive() {
			b.Crash()
		}
	case "power loss":
		if b.alive() {
			b.PowerLoss()
		}
	case "stop":
		if running && b.state().Process != machine.PendingControlledShutdown {
			b.Stop()
		}
	case "pause":
		if running {
			b.Pause()
		}
	case "isolate":
		c.Isolate(f.Broker)
	case "cut":
		if f.Other != f.Broker {
			c.Cut(f.Broker, f.Other)
		}
	case "hold":
		if f.Other != f.Broker {
			c.Hold(fmt.Sprintf("broker %d -> broker %d Fetch", f.Broker, f.Other))
		}
	}
}

// mend ends a fault; links and held messages are mended all at once.
func (c *Cluster) mend(f Fault) {
	b := c.Broker(f.Broker)
	switch f.Kind {
	case "isolate", "cut":
		c.Heal()
	case "hold":
		c.Release()
	case "pause":
		if b.state().Paused {
			b.Resume()
		}
	default:
		if !b.alive() {
			b.Start()
		}
	}
}

// mendAll ends whatever is left.
func (c *Cluster) mendAll() {
	c.Heal()
	c.Release()
	for i := range c.s.Brokers {
		b := c.Broker(i + 1)
		if b.state().Paused {
			b.Resume()
		}
		if !b.alive() {
			b.Start()
		}
	}
}

// shorten leaves out faults as long as the claim breaks without them.
func (h *Hunt) shorten(seed uint64, faults []Fault, c *Cluster, why string) ([]Fault, *Cluster, string) {
	for i := 0; i < len(faults); {
		fewer := slices.Delete(slices.Clone(faults), i, i+1)
		if c2, why2 := h.play(seed, fewer); why2 != "" {
			faults, c, why = fewer, c2, why2
		} else {
			i++
		}
	}
	return faults, c, why
}
