package machine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// shareChaos is a random world with a share group: members that come, work, crash and close, locks that end, brokers that
// crash (the partition's leader, the group's and the share coordinators), leaders that change, records that are deleted.
type shareChaos struct {
	*shares
	r    *rand.Rand
	live []int32
	down NodeID
}

func (c *shareChaos) join() {
	mode := map[string]any{"share.acknowledgement.mode": "explicit", "max.poll.records": 1 + c.r.IntN(5)}
	if c.r.IntN(2) == 0 {
		mode["share.acquire.mode"] = "record_limit"
	}
	if c.r.IntN(4) == 0 {
		delete(mode, "share.acknowledgement.mode")
	}
	c.live = append(c.live, c.member(fmt.Sprint("m", c.Seq), mode))
}

func (c *shareChaos) leave(i int, crash bool) {
	if crash {
		c.apply(CrashShareConsumer{Consumer: c.live[i]})
	} else {
		c.apply(CloseShareConsumer{Consumer: c.live[i]})
	}
	c.live = slices.Delete(c.live, i, i+1)
}

// work is a member that says something of what it has, and asks for more.
func (c *shareChaos) work(id int32) {
	x := &c.Share.Consumers[id]
	for _, h := range slices.Clone(x.Held) {
		if x.Config.Share.Explicit && c.r.IntN(5) > 0 {
			c.apply(ShareAcknowledge{Consumer: id, Topic: h.TP.Topic, Offset: h.Offset, Type: AckType(1 + c.r.IntN(4))})
		}
	}
	if c.r.IntN(3) == 0 {
		c.apply(ShareCommit{Consumer: id})
	} else if c.Share.Consumers[id].Unacknowledged() == 0 || !x.Config.Share.Explicit {
		c.apply(StartSharePoll{Consumer: id, Timeout: 300 * ms})
	}
}

func (c *shareChaos) act() {
	i := c.r.IntN(len(c.live))
	switch c.r.IntN(14) {
	case 0, 1:
		c.leave(i, c.r.IntN(2) == 0)
		c.join()
	case 2:
		if c.down == 0 {
			c.down = NodeID(c.r.IntN(3) + 1)
			c.apply(CrashBroker{c.down})
		}
	case 3:
		c.rise()
	case 4:
		c.apply(ElectLeaders{TP: c.tp})
	case 5:
		if l := c.LeaderLog(c.tp); l != nil && l.HighWatermark > 0 && c.r.IntN(3) == 0 {
			c.apply(DeleteRecords{TP: c.tp, Before: l.LogStart + c.r.Int64N(l.HighWatermark-l.LogStart+1)/2})
		}
	case 6:
		p := config.ShareGroup{AutoOffsetReset: config.ResetEarliest, DeliveryLimit: int32(2 + c.r.IntN(4)), Set: config.ShareGroupSet{DeliveryLimit: true}}
		c.apply(AlterShareGroup{Group: "g", Props: p})
	case 7, 8:
		for range 1 + c.r.IntN(4) {
			c.Apply(Send{Producer: c.p, Topic: "q", Partition: 0, Record: partlog.Record{Value: "x"}})
		}
	default:
		c.work(c.live[i])
	}
	c.run(int64(c.r.IntN(1500)) * ms)
	if c.r.IntN(8) == 0 {
		c.run(3500 * ms) // longer than a lock
	}
}

func (c *shareChaos) rise() {
	if c.down != 0 {
		c.run(4000 * ms)
		c.apply(StartBroker{c.down})
		c.down = 0
	}
}

// drain lets everybody go but one who accepts all that is left.
func (c *shareChaos) drain() {
	c.rise()
	for len(c.live) > 0 {
		c.leave(0, true)
	}
	c.run(5000 * ms)
	id := c.member("last", nil)
	for range 60 {
		c.apply(StartSharePoll{Consumer: id, Timeout: 500 * ms})
		c.run(1000 * ms)
		if p := c.SharePartition("g", c.tp); p != nil && p.Start == c.LeaderLog(c.tp).HighWatermark {
			return
		}
	}
	c.t.Fatalf("not everything is dealt with: %+v of %d", c.SharePartition("g", c.tp), c.LeaderLog(c.tp).HighWatermark)
}

// Whatever members and brokers do, the promises hold (60 to 65), and in the end every record is dealt with.
func TestShareGroupRandom(t *testing.T) {
	done := 0
	for seed := range uint64(8) {
		c := &shareChaos{shares: newShares(t, func(w *World) {
			w.Seed = seed
			w.Broker.Share.UpdatesPerSnapshot, w.Broker.Share.PruneIntervalMs, w.Broker.Share.ColdIntervalMs = 5, 7_000, 20_000
		}), r: rand.New(rand.NewPCG(seed, 1))}
		for range 3 {
			c.join()
		}
		for range 60 {
			c.act()
		}
		c.drain()
		done += len(c.Share.Consumers)
	}
	if done < 50 {
		t.Errorf("only %d members in all", done)
	}
}
