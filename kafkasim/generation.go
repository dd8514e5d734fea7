package kafkasim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
)

// version is the version whose rules hold.
func (w World) version() config.Version {
	v, _ := config.ParseVersion(w.Kafka)
	return v
}

// checkGeneration checks Kafka and Switches, and returns the version by its short name.
func (w World) checkGeneration(where string) string {
	if w.Kafka == "" {
		w.Kafka = config.DefaultVersion.String()
	}
	v, ok := config.ParseVersion(w.Kafka)
	if !ok {
		names := config.Versions()
		misuse(where, "Kafka: %q is no version that this simulator knows%s; it knows %q to %q", w.Kafka, near(w.Kafka, names), names[0], names[len(names)-1])
	}
	for _, name := range slices.Sorted(maps.Keys(w.Switches)) {
		if _, ok := machine.SwitchNamed(name); !ok {
			hint := near(name, switchNames())
			if hint == "" {
				hint = "; Rules() lists them"
			}
			misuse(where, "Switches: there is no switch %q%s", name, hint)
		}
	}
	return v.String()
}

// near asks whether another name was meant.
func near(name string, candidates []string) string {
	if x := config.Nearest(name, candidates); x != "" {
		return fmt.Sprintf(" - did you mean %q?", x)
	}
	return ""
}

// switchNames are the names of all switches.
func switchNames() []string {
	var names []string
	for _, i := range machine.Switches() {
		names = append(names, i.Name)
	}
	return names
}

// setGeneration gives the machine the version's rules, and the single switches over them.
func (w World) setGeneration(m *machine.World) {
	m.SetGeneration(w.version())
	for name, on := range w.Switches {
		x, _ := machine.SwitchNamed(name)
		m.Turn(x, on)
	}
}

// Rule is one of Kafka's rules that older versions did not have.
type Rule struct {
	Name    string // as World.Switches takes it
	On      bool
	ByHand  bool   // World.Switches says so, and the version does otherwise
	Source  string // the KIP or issue that brought it
	Since   string // the versions that have it
	Text    string // what holds when it is on
	Without string // what goes wrong when it is off
}

// Rules are the rules of a world that depend on its version of Kafka.
type Rules struct {
	Kafka string
	List  []Rule
}

// Rules shows which of the rules that Kafka did not always have hold here: those of World.Kafka, and what
// World.Switches says over them.
func (c *Cluster) Rules() *Rules {
	r := &Rules{Kafka: c.world.Kafka}
	var plain machine.World
	plain.SetGeneration(c.world.version())
	for _, i := range machine.Switches() {
		on := c.s.World.On(i.Switch)
		r.List = append(r.List, Rule{Name: i.Name, On: on, ByHand: on != plain.On(i.Switch), Source: i.Source,
			Since: i.Versions(), Text: i.Rule, Without: i.Without})
	}
	return r
}

// Rule is the rule with this name.
func (r *Rules) Rule(name string) Rule {
	for _, x := range r.List {
		if x.Name == name {
			return x
		}
	}
	misuse(fmt.Sprintf("Rule(%q)", name), "there is no such switch%s", near(name, switchNames()))
	return Rule{}
}

// String is a table: what holds, or, for a rule that is off, what goes wrong without it.
func (r *Rules) String() string {
	table := [][]string{{"SWITCH", "STATE", "SOURCE", "VERSIONS", "WHAT"}}
	for _, x := range r.List {
		state, what := "on", x.Text
		if !x.On {
			state, what = "off", "without: "+x.Without
		}
		if x.ByHand {
			state += " (set)"
		}
		table = append(table, []string{x.Name, state, x.Source, x.Since, what})
	}
	return "Kafka " + r.Kafka + "\n" + rows(table)
}

// generationLine says in one line by which rules a cluster lives, "" for plain current ones.
func (c *Cluster) generationLine() string {
	var set []string
	for _, x := range c.Rules().List {
		if x.ByHand {
			set = append(set, fmt.Sprintf("%s %s", x.Name, map[bool]string{true: "on", false: "off"}[x.On]))
		}
	}
	if c.world.version() == config.DefaultVersion && len(set) == 0 {
		return ""
	}
	s := "Rules of Kafka " + c.world.Kafka
	if len(set) > 0 {
		s += ", but " + strings.Join(set, ", ")
	}
	return s
}
