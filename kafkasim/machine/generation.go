package machine

import "kafkalab/kafkasim/config"

// Generations: which of Kafka's rules hold in a world.
//
// The machine is Kafka 4.3. What older versions did otherwise is behind switches, one for each change that
// can be seen from outside; generation_table.go says what each is, since when Kafka has it, and what goes
// wrong without it. A switch that is on is the newer rule.
//
// A World carries the switches that are off, as bits; so the zero value is Kafka 4.3.

// Switch is one rule that Kafka has not always had.
type Switch uint8

// The switches, in the order of their versions.
const (
	EpochTruncation Switch = iota
	LastMemberStays
	FetchSessions
	EpochInAnswer
	EpochBeforeRecords
	FetchFencing
	ExpandFromEpochStart
	OutOfRangeNotFatal
	AsyncZooKeeper
	ControllerFencing
	MonotonicLatest
	MemberIDRequired
	PositionValidation
	FollowerReads
	StickyByBatch
	HighWatermarkWaits
	StateOutlastsRecords
	MarkerTimestamps
	AnyFirstSequence
	FenceOnce
	TruncationOnFetch
	EpochCacheCut
	AlterISR
	MaximalISR
	AlterMovesHighWatermark
	OwnedGeneration
	StickyByBytes
	KRaft
	FencedStayOut
	BrokerEpochs
	ShrinkKeepsEpoch
	HighWatermarkSkipsIneligible
	EmptyFetchKeepsEpoch
	VerifyTransactions
	StrictMinISR
	CappedMinISR
	LeaderHints
	ExponentialBackoff
	HigherEpochDropped
	FetchAnswerEpoch
	PreVote
	TransactionsV2
	MarkerRetry
	LastKnownLeaderAlive
	FenceTakesNewID
	ConsumerProtocol
	RejoinKeepsEpoch
	GroupEpochFromOne
	AssignmentInterval
	LateCommits
	ShareReleaseCounts
	ShareEpochFromOne
	EmptiedGroupStays
	UniformKeepsExtras
	CommitsOutlive
	EligibleLeaders
	switches // how many there are
)

// Rules are the switches of a world. The zero value is Kafka 4.3: every one is on (eligible leader
// replicas are World.ELR, and off there).
type Rules uint64

// On tells whether a switch is on.
func (r Rules) On(x Switch) bool { return r&(1<<x) == 0 }

// Without tells whether a switch is off: an older rule holds.
func (r Rules) Without(x Switch) bool { return r&(1<<x) != 0 }

// Turn turns a switch on or off.
func (r *Rules) Turn(x Switch, on bool) {
	*r &^= 1 << x
	if !on {
		*r |= 1 << x
	}
}

// Truncation is how a follower finds what to cut off when it begins to follow a leader.
type Truncation uint8

// The ways of truncation, oldest first.
const (
	ToHighWatermark Truncation = iota // cut to the own high watermark, ask nobody
	ByRequest                         // ask the leader where the last epoch ended, then fetch
	OnFetch                           // fetch, and let the leader say where the logs part
)

// Truncation is the way of truncation under these rules. Truncation on fetch needs the epoch in the
// leader's answer.
func (r Rules) Truncation() Truncation {
	switch {
	case r.Without(EpochTruncation):
		return ToHighWatermark
	case r.Without(TruncationOnFetch) || r.Without(EpochInAnswer):
		return ByRequest
	}
	return OnFetch
}

// Turn turns a switch of a world on or off.
func (w *World) Turn(x Switch, on bool) {
	if x == EligibleLeaders {
		w.ELR = on
		return
	}
	w.Rules.Turn(x, on)
}

// On tells whether a switch of a world is on.
func (w *World) On(x Switch) bool {
	if x == EligibleLeaders {
		return w.ELR
	}
	return w.Rules.On(x)
}

// SetGeneration gives a world the rules of a version of Kafka.
func (w *World) SetGeneration(v config.Version) {
	for x := range switches {
		w.Turn(x, switchTable[x].on(v))
	}
}

// SwitchInfo describes one switch.
type SwitchInfo struct {
	Switch  Switch
	Name    string // as World.Switches takes it
	Source  string // the KIP or issue
	Since   config.Version
	Rule    string // what holds when it is on
	Without string // what goes wrong when it is off
	// gap lists versions after Since that lost the rule again: from the first on, before the second.
	gap [2]config.Version
}

// on tells whether a version has the rule.
func (i *SwitchInfo) on(v config.Version) bool {
	if i.gap[1] != 0 && v >= i.gap[0] && v < i.gap[1] {
		return false
	}
	return v >= i.Since
}

// Versions says in which versions the rule holds: "since 2.7", "always", "but 2.4 to 2.5".
func (i *SwitchInfo) Versions() string {
	s := "since " + i.Since.String()
	if i.Since == config.Oldest {
		s = "always"
	}
	if i.gap[1] != 0 {
		s += ", but not " + i.gap[0].String()
		if last := i.gap[1].Before(); last != i.gap[0] {
			s += " to " + last.String()
		}
	}
	return s
}

// Switches is the table of switches.
func Switches() []SwitchInfo {
	list := make([]SwitchInfo, switches)
	copy(list, switchTable[:])
	for x := range list {
		list[x].Switch = Switch(x)
	}
	return list
}

// SwitchNamed finds a switch by its name.
func SwitchNamed(name string) (Switch, bool) {
	for x := range switches {
		if switchTable[x].Name == name {
			return x, true
		}
	}
	return 0, false
}
