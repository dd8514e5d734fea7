package kafkasim

import (
	"fmt"
	"time"

	"kafkalab/kafkasim/machine"
)

// Broker is a handle on one broker.
type Broker struct {
	c  *Cluster
	id machine.NodeID
}

// Broker is the broker with this id; ids begin at 1.
func (c *Cluster) Broker(id int) *Broker {
	if id < 1 || id > len(c.s.Brokers) {
		misuse(fmt.Sprintf("Broker(%d)", id), "there is no broker %d; this cluster has brokers %s", id, oneTo(len(c.s.Brokers)))
	}
	return &Broker{c: c, id: machine.NodeID(id)}
}

// ID is the broker's id.
func (b *Broker) ID() int { return int(b.id) }

func (b *Broker) state() *machine.Broker { return &b.c.s.Brokers[b.id-1] }

func (b *Broker) alive() bool { return b.state().Process != machine.NotRunning }

// act carries out a command on the broker.
func (b *Broker) act(verb string, cmd machine.Command) *Broker {
	b.c.apply(fmt.Sprintf("c.Broker(%d).%s()", b.id, verb), cmd)
	return b
}

func (b *Broker) misuse(verb, what string) {
	misuse(fmt.Sprintf("Broker(%d).%s", b.id, verb), "broker %d %s", b.id, what)
}

func (b *Broker) needsAlive(verb string) {
	if !b.alive() {
		b.misuse(verb, "is not running; Start() it first")
	}
}

// Crash kills the broker's process, as kill -9 does. Its page cache lives: every record that was appended
// is still in its log when it starts again. Its clients' connections break at once.
func (b *Broker) Crash() *Broker {
	b.needsAlive("Crash")
	return b.act("Crash", machine.CrashBroker{Broker: b.id})
}

// PowerLoss turns the broker's machine off: what was not flushed to disk is gone, which may be everything
// since its log was opened. Nobody is told; messages to it go unanswered.
func (b *Broker) PowerLoss() *Broker {
	b.needsAlive("PowerLoss")
	return b.act("PowerLoss", machine.PowerLoss{Broker: b.id})
}

// Stop begins a controlled shutdown: leaderships move, the broker leaves every ISR, then the process ends
// and leaves a clean disk.
func (b *Broker) Stop() *Broker {
	b.needsAlive("Stop")
	if b.state().Process == machine.PendingControlledShutdown {
		b.misuse("Stop", "is stopping already")
	}
	return b.act("Stop", machine.StopBroker{Broker: b.id})
}

// Start starts a broker that is not running. It registers with the controller, which may first wait for
// the session of its former self to end.
func (b *Broker) Start() *Broker {
	if b.alive() {
		b.misuse("Start", "is running already")
	}
	return b.act("Start", machine.StartBroker{Broker: b.id})
}

// Pause makes the broker silent while it lives, as SIGSTOP does: it neither sends nor handles anything.
func (b *Broker) Pause() *Broker {
	b.needsAlive("Pause")
	if b.state().Paused {
		b.misuse("Pause", "is paused already")
	}
	return b.act("Pause", machine.PauseBroker{Broker: b.id})
}

// Resume lets a paused broker go on; what arrived meanwhile is handled now.
func (b *Broker) Resume() *Broker {
	if !b.state().Paused {
		b.misuse("Resume", "is not paused")
	}
	return b.act("Resume", machine.ResumeBroker{Broker: b.id})
}

// LoseDisk destroys disks of the broker: the log directories with these numbers, from 1, or all of them. What
// was in them is gone. A broker that loses its first directory, which holds the metadata log too, or all of
// them, ends at once; otherwise it answers KAFKA_STORAGE_ERROR for what it lost and goes on with the rest.
// New empty directories are there at the next Start.
func (b *Broker) LoseDisk(dirs ...int) *Broker {
	cmd, code := machine.LoseDisk{Broker: b.id}, ""
	for i, d := range dirs {
		if d < 1 || d > len(b.state().Dirs) {
			b.misuse("LoseDisk", fmt.Sprintf("has no log directory %d; it has %s (World.LogDirs)", d, oneTo(len(b.state().Dirs))))
		}
		if b.state().Dirs[d-1].Offline {
			b.misuse("LoseDisk", fmt.Sprintf("has lost its log directory %d already", d))
		}
		if i > 0 {
			code += ", "
		}
		code += fmt.Sprint(d)
		cmd.Dirs = append(cmd.Dirs, int32(d))
	}
	b.c.apply(fmt.Sprintf("c.Broker(%d).LoseDisk(%s)", b.id, code), cmd)
	return b
}

// LosePartition deletes the directory of a partition on a broker that is not running.
func (b *Broker) LosePartition(topic string, partition int) *Broker {
	return b.loseReplica("LosePartition", topic, partition, -1, "")
}

// LoseTail drops what a broker that is not running has of a partition behind the first batches, as a disk
// does that never got the rest before the power went.
func (b *Broker) LoseTail(topic string, partition, batches int) *Broker {
	if batches < 0 || batches > 1<<30 {
		b.misuse("LoseTail", fmt.Sprintf("cannot keep %d batches: want 0 or more", batches))
	}
	return b.loseReplica("LoseTail", topic, partition, int32(batches), fmt.Sprintf(", %d", batches))
}

func (b *Broker) loseReplica(verb, topic string, partition int, keep int32, more string) *Broker {
	tp := b.c.partitionOf(fmt.Sprintf("Broker(%d).%s", b.id, verb), topic, partition)
	if b.alive() {
		b.misuse(verb, "is running; Crash() or PowerLoss() it first")
	}
	if b.c.replica(b.id, tp) == nil {
		b.misuse(verb, "has no replica of "+b.c.s.PartitionName(tp))
	}
	b.c.apply(fmt.Sprintf("c.Broker(%d).%s(%q, %d%s)", b.id, verb, topic, partition, more), machine.LoseReplica{Broker: b.id, TP: tp, Keep: keep})
	return b
}

// Slow makes the broker's disk slow: each answer to a produce or fetch request, and each fetch of its own,
// leaves d later; heartbeats are as quick as ever. 0 makes it quick again. A follower that is slower than
// replica.lag.time.max.ms leaves the ISR; a slow leader is moved by nothing.
func (b *Broker) Slow(d time.Duration) *Broker {
	if d < 0 || d > time.Hour || d%time.Microsecond != 0 {
		misuse(fmt.Sprintf("Broker(%d).Slow", b.id), "%v: want whole microseconds, from 0 to 1h", d)
	}
	b.c.apply(fmt.Sprintf("c.Broker(%d).Slow(%s)", b.id, goDuration(d.Microseconds())), machine.SlowBroker{Broker: b.id, By: d.Microseconds()})
	return b
}

// String says what the broker is doing and what it leads.
func (b *Broker) String() string {
	v := b.c.viewBroker(b.state())
	s := fmt.Sprintf("broker %d: %s", v.ID, v.State)
	if v.Paused {
		s += ", paused"
	}
	if slow := b.state().Slow; slow > 0 {
		s += ", slow by " + inMs(slow)
	}
	if v.Fenced {
		s += ", fenced"
	}
	leads, copies := 0, 0
	for i := range b.state().Replicas {
		copies++
		if b.state().Replicas[i].Role == machine.Leader {
			leads++
		}
	}
	return s + fmt.Sprintf(", %s, leads %d", plural(copies, "replica"), leads)
}

// oneTo is "1, 2, 3" or "1 to 30".
func oneTo(n int) string {
	if n > 5 {
		return fmt.Sprintf("1 to %d", n)
	}
	s := ""
	for i := 1; i <= n; i++ {
		if i > 1 {
			s += ", "
		}
		s += fmt.Sprint(i)
	}
	return s
}

// numbered is "partition 0" or "partitions 0 to 2".
func numbered(n int) string {
	if n == 1 {
		return "partition 0 only"
	}
	return fmt.Sprintf("partitions 0 to %d", n-1)
}
