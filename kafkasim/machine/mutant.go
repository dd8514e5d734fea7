package machine

import "slices"

// Mutants: rules that are broken on purpose, so that tests can show that each would be noticed.
//
// World.Mutant is 0 outside tests. Each mutant is one condition beside the rule that it breaks; mutant_test.go
// shows what catches it.

// Mutant is one broken rule.
type Mutant uint8

// The mutants, named after what goes wrong.
const (
	NoMutant                   Mutant = iota
	TruncatesToHighWatermark          // a follower of a new epoch cuts to its high watermark (R2.2)
	NeverTruncates                    // a follower ignores where the logs part (R2.10)
	KeepsEpochCache                   // a truncation leaves the epoch cache (R1.7)
	EpochEndOffByOne                  // the end of an epoch is one too high (R1.6)
	NoEpochOnLeading                  // a new leader does not note where its epoch begins (R1.5)
	WrongLastEpoch                    // a follower's fetch names its leader epoch as that of its last record (R2.2)
	TakesStaleAnswers                 // a follower takes the answer to a fetch of an earlier epoch (R2.6)
	HighWatermarkByMajority           // the high watermark is where a majority is (R1.17)
	HighWatermarkByCommitted          // a pending growth of the ISR does not count (R1.21)
	HighWatermarkByProposed           // a pending shrink counts already (R1.21)
	HighWatermarkUnderMin             // it moves although the ISR is below the minimum (R1.22)
	HighWatermarkAtOnce               // a new leader takes its log end for it (R1.19)
	HighWatermarkGoesBack             // a leader lets it go back (R1.17)
	FollowerCommitsAll                // a follower takes its log end for the high watermark (R2.6)
	CreditsAnyEpoch                   // a leader answers and credits fetches of other epochs (R1.28)
	CreditsDiverging                  // a leader credits a fetch whose log parts from its own (R2.4)
	CreditsFormerLife                 // … or one of the follower's life before (R2.12)
	RemembersRemotes                  // a new leader believes its followers to be where it is (R2.13)
	ExpandsBelowHighWatermark         // a follower below the high watermark joins the ISR (R2.17)
	ExpandsBelowEpochStart            // … or below the start of the leader's epoch
	ShrinksWithoutLag                 // whoever is behind at the moment leaves the ISR (R2.15)
	ISRByProposal                     // a leader takes its proposal for granted (R2.23)
	AlterIgnoresPartitionEpoch        // the controller does not compare it (R2.21)
	AlterIgnoresLeaderEpoch           // … nor the leader epoch
	AlterIgnoresBrokerEpoch           // … nor the broker epochs of the members
	AlterTakesFenced                  // … nor whether a member is fenced
	ElectsOutsideISR                  // any live replica is as good as a member of the ISR (R3.13)
	ElectsUnclean                     // unclean elections whatever the topic says (R3.14)
	UncleanUnmarked                   // an unclean election is not marked
	ElectsTheDead                     // a leader need not be active
	LastMemberLeaves                  // without ELR the ISR may become empty (R3.12)
	NeverClearsELR                    // the eligible leaders stay when the ISR is large enough (R3.16)
	UncleanStaysEligible              // an unclean shutdown does not cost the place among them (R3.18)
	SameLeaderEpoch                   // a new leader without a new epoch (R3.10)
	SamePartitionEpoch                // a change without a new partition epoch
	OldMetadataCounts                 // a broker goes back to an older state of a partition (R2.24)
	RegistersAtOnce                   // a registration is taken while the session of the life before is valid (R3.2)
	SameBrokerEpoch                   // a new life has the epoch of the one before (R3.1)
	RegistersUnfenced                 // a registration unfences
	UnfencesEarly                     // a broker is unfenced before it has read its registration (R3.6)
	FencesLate                        // a broker is fenced and stays where it was (R3.11)
	StopsWithoutHandover              // a controlled shutdown waits for nothing (R3.20)
	StopsWithoutFlush                 // a controlled shutdown leaves the logs in the page cache (R4.2)
	LoadsWholeLog                     // after a restart the high watermark is the log's end (R4.3)
	QuotaNeverThrottles               // a client over its quota is told nothing (dc1)
	RequestThrottleUnbounded          // a client that costs too much time is silent for longer than a window (KIP-124)
	MutationsUnchecked                // the controller makes what a bucket below zero forbids (KIP-599)
	QuotaLeavesUnmuted                // its connection is read on at once (KIP-219)
	ThrottlesInSync                   // a throttled leader holds back members of the ISR, too (R3.35)
	AcksAllAtAppend                   // acks=all is answered at once (R1.13)
	MinISRByMaximal                   // the minimum is compared with the maximal ISR (R1.12)
	RefusesAfterAppend                // a batch that is refused for too few replicas is appended all the same (R1.12)
	ForgetsPurgatory                  // a high watermark that moves lets no produce request go (R1.16)
	AppendsDuplicates                 // a batch that was appended before is appended again (R1.23)
	IgnoresSequence                   // … and gaps in the sequence are taken (P-85)
	ForgetsProducers                  // a truncation leaves the producer state (P-84, P-85)
	ConsumersReadToEnd                // a consumer gets what is not committed (R1.26)
	RetriesOutOfOrder                 // an idempotent producer sends on while a batch before is to be tried again (P-56)
	TakesAnySessionEpoch              // a fetch session takes requests out of their turn (R2.8)
	SessionHidesHighWatermark         // an answer leaves out a high watermark that has moved without records (R2.8)
	KeepsOldInstances                 // a member id goes on after its instance has another (G-72)
	KeepsAbsentMembers                // who has not joined in time stays in the group (G-26)
	GenerationStays                   // a rebalance begins no new generation (G-11)
	StaticRejoinRebalances            // a static member that comes back causes a rebalance (G-70)
	IgnoresGeneration                 // members of former generations may commit (G-82)
	SessionsNeverEnd                  // a member without heartbeats stays (G-53)
	PollsNeverEnd                     // … and one that does not poll (C-71)
	ExpiresSubscribed                 // the commit's age counts for an empty group's offsets (G-100)
	HandsOverAtOnce                   // cooperative-sticky gives a partition away before it is revoked
	KeepsRevoked                      // a cooperative member does not join again after it has given something up
	CommitsEarly                      // an automatic commit takes what the same poll returns (C-61)
	ForgetsCommits                    // a coordinator's successor does not read the offsets (G-110)
	ReadsUncommitted                  // OffsetFetch tells what is not replicated (G-90)
	CommitsThePosition                // an application that commits after n records commits its position (C-65)
	DrainsReadyOnly                   // a partition that is ready takes no others along (P-37)
	MutesNothing                      // with one request in flight a partition is not muted (P-55)
	ReenqueuesAtEnd                   // a batch that failed goes to the end of its queue (P-68)
	ExpiresFromRetry                  // the time for a delivery begins anew with each attempt (P-63)
	SplitReversed                     // the parts of a batch that was too large change places (P-67)
	SequencesByBatch                  // a sequence number counts batches, not records (P-82)
	RetriesRenumbered                 // a retry gets a new sequence number (P-82)
	SameEpochAfterGap                 // after a gap the numbers begin at 0 in the same epoch (P-88)
	IgnoresHints                      // a producer does not believe who is said to lead (P-62)
	DuplicatesAtEnd                   // a duplicate is answered with the log's end (P-84)
	TakesOldEpochs                    // a log takes batches of an earlier producer epoch (P-85)
	IgnoresTopicCodec                 // a topic's compression.type does nothing (P-100)
	NeverLearnsRatio                  // a producer's guess of compressed sizes stays 1 (P-33)
	ResendsSequence                   // a producer's next batch has the last one's sequence number (P-82)
	SendsToLaggingReplica             // a leader sends a consumer to a replica out of sync, or behind (C-50)
	PrefersForEver                    // a consumer never asks the leader again which replica to read from (C-51)
	KeepsPreferredReplica             // … nor after an error (C-36)
	ReadsBelowPosition                // a poll hands out records from before the position (C-9, C-21)
	SkipsValidation                   // a consumer trusts a new leader with what it has read (C-41)
	ResetsByDurationToEnd             // by_duration without so new a record begins at the end (C-34)
	LinksReorder                      // a message may overtake another on its link

	// Those of the metadata quorum.
	VotesTwice           // a controller votes for a second candidate in an epoch (R3.27)
	VotesForShorter      // … or for one whose log is shorter than its own
	StandsAtOnce         // an election without the question whether it could be won (KIP-996)
	PreVotesWithLeader   // who hears its leader says yes to that question
	ForgetsVote          // a vote is not on disk (R3.27)
	CommitsByMinority    // a record is committed when one other controller has it, of five (R3.26)
	CommitsOlderEpoch    // records of an earlier epoch are committed by counting alone (R3.26)
	LeadsWithoutMajority // a leader that no majority fetches from goes on (R3.27)
	KeepsEpochResigned   // who has resigned stays in its epoch (R3.27)
	ActsBeforeCommit     // a new leader acts before its first record is committed (R3.29)
	AnswersBeforeCommit  // the controller answers before its records are committed (R3.28)
	KeepsUncommitted     // a follower cuts off nothing that its leader does not have
	FetchesAnyEpoch      // the quorum's leader answers fetches of other epochs
	TakesStaleMetadata   // a controller takes an answer of an earlier epoch
	TellsUncommitted     // brokers get what is not committed (R3.28)
	RenouncesNothing     // who leads no more goes on acting (R3.29)
	SessionsExpireAtOnce // a new active controller gives brokers no new session (R3.29)
	HeartbeatOfAnyEpoch  // a heartbeat of another broker epoch counts (R3.4)
	TrustsAnyMarker      // a registration is clean whatever broker epoch its marker has (R3.18)

	// Those of transactions.
	AddsForAnyEpoch     // a coordinator adds partitions for any epoch (T-23)
	AddsWhileEnding     // … or while the transaction before is being ended
	EndsForAnyEpoch     // a coordinator ends a transaction for any epoch (T-33, T-34)
	SameEpochAtEnd      // transactions v2 without a new epoch at each end (T-32)
	AnswersBeforeTheLog // a coordinator's change holds before it is committed (T-3)
	NoMarkers           // a transaction is complete without markers (T-31)
	ForgetsAPartition   // one partition of several gets no marker
	CompletesEarly      // a transaction is complete with its first marker
	MarkersReversed     // commit markers abort and abort markers commit (T-40)
	TakesAnyMarker      // a log takes a marker of any epoch (T-43)
	AppendsUnasked      // a partition leader appends without asking the coordinator (T-21, T-25)
	GuardsForever       // what the coordinator said counts after a marker too (KIP-890)
	NeverTimesOut       // transactions stay open for ever (T-50)
	StableTooFar        // a leader's last stable offset does not stop at an open transaction (T-44)

	// Those of groups with the consumer protocol.
	GivesHeldPartitions // a partition is given to its new owner while another holds it
	RevokesUnasked      // a partition counts as given up before its owner says so
	AnyMemberEpoch      // a member of any epoch goes on
	EpochStands         // a change does not raise the group epoch
	CommitsAnyEpoch     // a commit of any member epoch is taken
	KeepsFetching       // a member acknowledges and keeps what it was to give up
	AnswersPending      // a coordinator answers a heartbeat while its writes are pending (G-89)
	SaysLittle          // a member does not say everything after an error
	MemberAhead         // a member is told the group's epoch, and not that of its target

	// … of all groups, and of the logs that they read.
	AssignsTwice       // a group's leader gives a partition to two members
	ProcessesAnyway    // an application that commits first processes although its commit failed (S-1)
	TrustsOldMetadata  // a committed offset's leader epoch does not make metadata old (C-40)
	CleanerDropsLast   // the cleaner removes a key's last record, too (R7.9)
	DeletesUncommitted // retention does not look at the high watermark (R7.2)

	// Those of share groups.
	SharesTwice         // a leader gives a record to a second member while the first has it (H-1)
	DeliversForEver     // a record that was delivered often enough becomes available again (H-7)
	ForgetsAcknowledged // a new leader makes acknowledged records available (H-19)
	SharesStartJumps    // a window begins one record earlier after each write (H-3)
	LocksForEver        // a lock does not end (H-5)
	TakesAnyAck         // a leader takes acknowledgements of records that the member does not have (H-10)
	SharesWithoutLimit  // records in flight are not counted (H-9)
	SharesAborted       // read_committed hands out aborted transactions (H-15)
	TakesAnyShareEpoch  // a share session takes requests out of their turn (H-16)
	KeepsOfTheGone      // a session that ends releases nothing (H-8)
	ReadsWithoutFence   // a leader that reads a state does not write its epoch (H-19)
	AnyShareLeader      // the share coordinator takes what an older leader writes (H-19)
	AnyStateEpoch       // … and what is of an older state
	SkipsUnsettled      // a window begins behind a record that is not dealt with (H-3)
	KeepsTopicsState    // a topic's states stay when it is deleted (H-19)
	PrunesTooMuch       // the share coordinator deletes snapshots that it needs (H-19)
	mutants             // how many there are
)

// mutant tells whether a rule is broken.
func (s *State) mutant(m Mutant) bool { return s.World.Mutant == m }

// majority is how far most replicas of a leader are (HighWatermarkByMajority).
func (r *Replica) majority() int64 {
	ends := []int64{r.Log.End}
	for i := range r.Remotes {
		ends = append(ends, r.Remotes[i].End)
	}
	slices.Sort(ends)
	return ends[(len(ends)-1)/2]
}

// brokenVote is a vote that a broken rule gives.
func (s *State) brokenVote(c *Controller, m *VoteRequest) bool {
	q := &c.Quorum
	switch s.World.Mutant {
	case VotesTwice:
		return !m.PreVote && (q.State == QuorumUnattached || q.State == QuorumCandidate) && c.upToDate(m)
	case VotesForShorter:
		longer := *m
		longer.LastEpoch = c.lastEpoch() + 1
		return c.canGrant(&longer)
	case PreVotesWithLeader:
		return m.PreVote && q.State == QuorumFollower && c.upToDate(m)
	}
	return false
}

// minority is how far the leader and one other controller are (CommitsByMinority).
func (s *State) minorityEnd(sorted []int64) int64 { return sorted[len(sorted)-2] }

// mutate breaks rules about a batch that is taken out of its queue.
func (s *State) mutate(p *Producer, part *AccPart, slot int32) {
	b := &p.Live[slot].Batch
	switch s.World.Mutant {
	case MutesNothing:
		part.Muted = false
	case SequencesByBatch:
		if b.BaseSequence >= 0 {
			part.Next = nextSequence(b.BaseSequence, 1)
		}
	case ResendsSequence:
		if b.BaseSequence >= 0 {
			part.Next = b.BaseSequence
		}
	case NeverLearnsRatio:
		p.Topics[p.Live[slot].Ref.Topic].Ratio = 0
	}
}

// deliverySince is when the time for a batch's delivery began (P-63).
func (s *State) deliverySince(b *LiveBatch) int64 {
	if s.mutant(ExpiresFromRetry) {
		return b.LastAttempt
	}
	return b.Created
}
