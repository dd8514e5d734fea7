package kafkasim

import (
	"slices"
	"testing"
	"time"

	"kafkalab/kafkasim/machine"
)

// oldRule is a rule of older versions that breaks invariants.
type oldRule struct {
	without string // the switch of the newer rule, which is off
	elr     bool   // only with eligible leader replicas
	breaks  []int
	kafka   string // a version in which it does; "" for the newest, with this rule alone
	seed    uint64 // of the first schedule that shows it
	groups  bool   // the schedules are those with a group
	txns    bool   // in a schedule with transactions
}

// oldRules are the rules that break invariants, each by the switch that is off. Whatever else breaks under older
// rules is a fault of the simulator.
var oldRules = []oldRule{
	// A follower cuts off to its own high watermark, committed records with it (KIP-101's loss), or has other
	// records at an offset than its leader (its divergence); retries then meet a log that forgot them.
	{without: "epoch.truncation", breaks: []int{6, 7, 8, 9, 10, 11, 12, 13, 14, 17, 23, 25, 26}, seed: 397},
	// The ISR of a dead partition that allows unclean election is empty, without eligible leaders.
	{without: "isr.last.member.stays", breaks: []int{2}, seed: 11},
	// A new leader's high watermark is old: a follower joins that lacks what was committed.
	{without: "isr.expand.from.epoch.start", breaks: []int{9, 10, 11, 12, 13, 14}, seed: 1046},
	// A follower asks about the same epoch for ever, and is never in sync again.
	{without: "epoch.cache.cut", breaks: []int{26}, seed: 1722},
	// After the ISR has shrunk the high watermark stands still until the next append or fetch.
	{without: "alter.moves.high.watermark", breaks: []int{26}, seed: 496},
	// A fenced broker may be the last member of an ISR, and a leader one by whose loss the ISR is not empty.
	{without: "fenced.stay.out", breaks: []int{2, 19}, seed: 3885},
	// A leader writes the ISR itself, and knows of a broker's fencing only what it has read.
	{without: "alter.partition", breaks: []int{2, 19}, seed: 606_547},
	// A follower has records of an epoch that it has not heard of.
	{without: "higher.epoch.dropped", breaks: []int{6}, kafka: "2.0", seed: 7662},
	// The last known leader is elected when it is dead, and never when it lives.
	{without: "last.known.leader.alive", elr: true, breaks: []int{2, 20, 26}, seed: 38},
	// The high watermark moves on below the minimum.
	{without: "strict.min.isr", breaks: []int{15}, seed: 3800},
	// What is committed then is not on those who left the ISR and are eligible all the same: the
	// two rules came together, in 3.7 and 4.0 (KIP-966), and need each other.
	{without: "strict.min.isr", elr: true, breaks: []int{9, 10, 11, 12, 13, 14}, seed: 2454},
	// A member's claim of partitions that it had in an earlier generation counts: two members have one, and process it.
	{without: "owned.generation", breaks: []int{40, 43, 44, 49}, groups: true, kafka: "2.8", seed: 585},
	// The coordinator's successor has forgotten what was committed: members begin where they began.
	{without: "commits.outlive.coordinator", breaks: []int{42, 43, 44}, groups: true},
	// A marker that was written, and whose answer was lost, is refused when it comes again: the transaction stays
	// prepared until another coordinator begins (KAFKA-19999).
	{without: "marker.retry", breaks: []int{33}, txns: true, seed: 16},
	// A leader that has lost all of an epoch says that it does not know it, and the follower cuts to its high watermark.
	{without: "epoch.in.answer", breaks: []int{8}, txns: true, kafka: "1.1", seed: 6015},
	// With the first protocol a batch that comes late, after its transaction was aborted, belongs to the next one of the
	// same epoch, and an EndTxn that comes late ends it (KIP-890, T-70). Hardly so since 3.6, which verifies.
	{without: "transactions.v2", breaks: []int{31, 33}, txns: true, kafka: "3.5", seed: 1570},
}

// excused tells whether an invariant may break by the rules of a schedule's world.
func (s *schedule) excused(number int) bool {
	w := s.world.older()
	return slices.ContainsFunc(oldRules, func(r oldRule) bool {
		x, _ := machine.SwitchNamed(r.without)
		return !w.On(x) && (w.ELR || !r.elr) && slices.Contains(r.breaks, number)
	})
}

// The rules that break invariants do, and do not break others.
func TestOldRulesBreakInvariants(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, r := range oldRules {
		t.Run(r.without, func(t *testing.T) {
			begin := time.Now()
			for i := range uint64(8000) {
				seed := r.seed + i
				draw := drawSchedule
				switch {
				case r.groups:
					draw = drawGroupSchedule
				case r.txns:
					draw = drawTxnSchedule
				}
				s := draw(draws(seed))
				s.world.kafka, s.world.without, s.world.controllers = r.kafka, r.without, 1
				s.world.elr = s.world.elr && !(r.txns && r.kafka != "") || r.elr
				switch f := s.outcome(machine.NoMutant); {
				case f == nil:
				case !s.excused(f.number):
					t.Fatalf("seed %d: %s", seed, f.text)
				case slices.Contains(r.breaks, f.number):
					t.Logf("schedule %d, %v: %s", seed, time.Since(begin).Round(time.Millisecond), f.text)
					return
				}
			}
			t.Error("breaks nothing")
		})
	}
}
