package kafkasim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kafkalab/kafkasim/machine"
)

// node finds who a caller means: a broker's id (a number or "broker 1"), "controller", a client's id, or
// a handle.
func (c *Cluster) node(where string, x any) machine.NodeID {
	switch x := x.(type) {
	case int:
		return c.node(where, strconv.Itoa(x))
	case *Broker:
		return x.id
	case *Controller:
		return x.id
	case *Producer:
		return c.s.Producers[x.i].Node
	case *Consumer:
		return c.s.Consumers[x.i].Node
	case string:
		if n := c.controllerNamed(where, x); n != machine.NoNode {
			return n
		}
		if n, err := strconv.Atoi(strings.TrimPrefix(x, "broker ")); err == nil {
			if n < 1 || n > len(c.s.Brokers) {
				misuse(where, "there is no broker %d; this cluster has brokers %s", n, oneTo(len(c.s.Brokers)))
			}
			return machine.NodeID(n)
		}
		for i := range c.s.Clients {
			if c.s.Clients[i].Name == x {
				return machine.FirstClient + machine.NodeID(i)
			}
		}
		names := append([]string{"controller"}, append(c.clientNames(machine.ProducerClient), append(c.clientNames(machine.ConsumerClient), c.clientNames(machine.ShareConsumerClient)...)...)...)
		misuse(where, "there is nobody called %q%s (brokers are meant by their numbers)", x, meant(x, names, ""))
	}
	misuse(where, "%v (%T) names nobody: want a broker's number, \"controller\" or a client's id", x, x)
	return machine.NoNode
}

// controllerNamed finds a controller by "controller", where there is one, or by "controller 3002" or its number;
// NoNode when the name is none of a controller.
func (c *Cluster) controllerNamed(where, name string) machine.NodeID {
	if name == "controller" {
		if len(c.s.Controllers) > 1 {
			misuse(where, "which controller? This cluster has %s; say \"controller %d\"", c.controllerIDs(), machine.FirstController)
		}
		return machine.FirstController
	}
	word, named := strings.CutPrefix(name, "controller ")
	n, err := strconv.Atoi(word)
	if err != nil || !named && !machine.NodeID(n).IsController() {
		return machine.NoNode
	}
	return c.Controller(n).id
}

// nodeCode writes a node as Go code.
func (c *Cluster) nodeCode(n machine.NodeID) string {
	if n.IsBroker() {
		return strconv.Itoa(int(n))
	}
	return strconv.Quote(c.s.NodeName(n))
}

// Links tells what a verb did to the network.
type Links struct{ text string }

// String is the sentence.
func (l *Links) String() string { return l.text }

// Cut stops messages between two nodes, both ways, until Heal. What is on the wire still arrives; what is
// sent from now on waits, as TCP would send it again. A node is a broker's number, "controller", or a
// client's id. (It is not called a network partition: in Kafka that word is taken.)
func (c *Cluster) Cut(a, b any) *Links {
	x, y := c.node("Cut", a), c.node("Cut", b)
	if x == y {
		misuse("Cut", "%s cannot be cut from itself", c.s.NodeName(x))
	}
	c.apply(fmt.Sprintf("c.Cut(%s, %s)", c.nodeCode(x), c.nodeCode(y)), machine.CutLink{A: x, B: y})
	return &Links{c.s.NodeName(x) + " and " + c.s.NodeName(y) + " are cut off from each other"}
}

// CutOneWay stops messages from a to b until Heal; what b sends still reaches a. What is on the wire arrives.
func (c *Cluster) CutOneWay(a, b any) *Links {
	x, y := c.node("CutOneWay", a), c.node("CutOneWay", b)
	if x == y {
		misuse("CutOneWay", "%s cannot be cut from itself", c.s.NodeName(x))
	}
	c.apply(fmt.Sprintf("c.CutOneWay(%s, %s)", c.nodeCode(x), c.nodeCode(y)), machine.CutOneWay{From: x, To: y})
	return &Links{"nothing gets from " + c.s.NodeName(x) + " to " + c.s.NodeName(y)}
}

// nodes are all nodes of the cluster.
func (c *Cluster) nodes() []machine.NodeID {
	var out []machine.NodeID
	for i := range c.s.Brokers {
		out = append(out, c.s.Brokers[i].ID)
	}
	for i := range c.s.Controllers {
		out = append(out, c.s.Controllers[i].ID)
	}
	for i := range c.s.Clients {
		out = append(out, machine.FirstClient+machine.NodeID(i))
	}
	return out
}

// Isolate cuts a node off from everybody who is there now.
func (c *Cluster) Isolate(x any) *Links {
	n := c.node("Isolate", x)
	c.history.line(fmt.Sprintf("c.Isolate(%s)", c.nodeCode(n)), c.s.Now)
	for _, other := range c.nodes() {
		if other != n {
			c.apply("", machine.CutLink{A: n, B: other})
		}
	}
	return &Links{c.s.NodeName(n) + " is cut off from everybody"}
}

// Heal mends every cut link; what waited arrives, in order.
func (c *Cluster) Heal() *Links {
	c.history.line("c.Heal()", c.s.Now)
	healed := 0
	for _, l := range slices.Clone(c.s.Links) {
		if c.cut(l.From, l.To) { // a link that is cut both ways heals at its first half
			healed++
			c.apply("", machine.HealLink{A: l.From, B: l.To})
		}
	}
	if healed == 0 {
		return &Links{"no link was cut"}
	}
	return &Links{plural(healed, "link") + " healed"}
}

// Latency sets how long messages from a to b are on the wire from now on: one direction. Call it again
// with a and b exchanged for the way back.
func (c *Cluster) Latency(a, b any, d time.Duration) *Links {
	x, y := c.node("Latency", a), c.node("Latency", b)
	if d < 0 || d > time.Hour {
		misuse("Latency", "%v: want 0 to 1h", d)
	}
	c.history.line(fmt.Sprintf("c.Latency(%s, %s, %s)", c.nodeCode(x), c.nodeCode(y), goDuration(d.Microseconds())), c.s.Now)
	c.setLatency(x, y, d)
	return &Links{c.s.NodeName(x) + " -> " + c.s.NodeName(y) + " takes " + inMs(d.Microseconds())}
}

func (c *Cluster) setLatency(from, to machine.NodeID, d time.Duration) {
	c.apply("", machine.SetLatency{From: from, To: to, Latency: d.Microseconds()})
}
