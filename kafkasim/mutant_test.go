package kafkasim

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkalab/kafkasim/machine"
)

// mutant is a broken rule as machine/mutant.go names and explains it.
type mutant struct {
	id         machine.Mutant
	name, what string
}

// mutants reads the list from the source.
func mutants(t *testing.T) (list []mutant) {
	file, err := parser.ParseFile(token.NewFileSet(), "machine/mutant.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for i, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			if name := v.Names[0].Name; i > 0 && ast.IsExported(name) {
				list = append(list, mutant{machine.Mutant(i), name, strings.TrimSpace(v.Comment.Text())})
			}
		}
	}
	return list
}

// elsewhere are the mutants that break no invariant, or do so where no schedule comes; machine/mutant_test.go
// shows what catches them.
var elsewhere = []machine.Mutant{
	machine.QuotaNeverThrottles,
	machine.QuotaLeavesUnmuted, machine.RequestThrottleUnbounded, machine.MutationsUnchecked,
	machine.ThrottlesInSync,
	machine.SharesTwice, machine.DeliversForEver, machine.ForgetsAcknowledged, machine.SharesStartJumps, machine.LocksForEver, machine.TakesAnyAck, machine.SharesWithoutLimit,
	machine.SharesAborted, machine.TakesAnyShareEpoch, machine.KeepsOfTheGone, machine.ReadsWithoutFence, machine.AnyShareLeader, machine.AnyStateEpoch, machine.SkipsUnsettled, machine.KeepsTopicsState, machine.PrunesTooMuch,
	machine.TakesStaleAnswers,
	machine.HighWatermarkByCommitted,
	machine.CreditsFormerLife,
	machine.ExpandsBelowEpochStart,
	machine.ShrinksWithoutLag,
	machine.AlterIgnoresLeaderEpoch,
	machine.AlterIgnoresBrokerEpoch,
	machine.RegistersAtOnce,
	machine.StopsWithoutHandover,
	machine.StopsWithoutFlush,
	machine.OldMetadataCounts,
	machine.MinISRByMaximal,
	machine.RetriesOutOfOrder,
	machine.SendsToLaggingReplica,
	machine.PrefersForEver,
	machine.KeepsPreferredReplica,
	machine.ReadsBelowPosition,
	machine.SkipsValidation,
	machine.ResetsByDurationToEnd,
	machine.TakesAnySessionEpoch,
	machine.SessionHidesHighWatermark,
	machine.DrainsReadyOnly,
	machine.MutesNothing,
	machine.ReenqueuesAtEnd,
	machine.ExpiresFromRetry,
	machine.SplitReversed,
	machine.SequencesByBatch,
	machine.SameEpochAfterGap,
	machine.IgnoresHints,
	machine.DuplicatesAtEnd,
	machine.TakesOldEpochs,
	machine.IgnoresTopicCodec,
	machine.NeverLearnsRatio,
	machine.ResendsSequence,
	machine.LinksReorder,
	machine.AlterTakesFenced,
	machine.IgnoresSequence,
	machine.VotesForShorter,
	machine.StandsAtOnce,
	machine.PreVotesWithLeader,
	machine.ForgetsVote,
	machine.CommitsOlderEpoch,
	machine.LeadsWithoutMajority,
	machine.KeepsEpochResigned,
	machine.ActsBeforeCommit,
	machine.AnswersBeforeCommit,
	machine.KeepsUncommitted,
	machine.FetchesAnyEpoch,
	machine.TakesStaleMetadata,
	machine.TellsUncommitted,
	machine.RenouncesNothing,
	machine.SessionsExpireAtOnce,
	machine.HeartbeatOfAnyEpoch,
	machine.TrustsAnyMarker,
	machine.KeepsOldInstances, machine.KeepsAbsentMembers, machine.StaticRejoinRebalances, machine.IgnoresGeneration,
	machine.SessionsNeverEnd, machine.PollsNeverEnd, machine.ExpiresSubscribed, machine.HandsOverAtOnce, machine.KeepsRevoked,
	machine.CommitsEarly, machine.ReadsUncommitted,
	machine.GuardsForever,
	machine.AnyMemberEpoch, machine.EpochStands, machine.CommitsAnyEpoch, machine.SaysLittle,
}

// inTransactions are the mutants that schedules with transactions catch.
var inTransactions = []machine.Mutant{
	machine.AddsForAnyEpoch, machine.AddsWhileEnding, machine.EndsForAnyEpoch, machine.SameEpochAtEnd, machine.AnswersBeforeTheLog,
	machine.NoMarkers, machine.ForgetsAPartition, machine.CompletesEarly, machine.MarkersReversed, machine.TakesAnyMarker,
	machine.AppendsUnasked, machine.NeverTimesOut, machine.StableTooFar,
}

// byWatch are those of them that Watch catches at the event that breaks an invariant, before anybody has waited for the
// end.
var byWatch = []machine.Mutant{
	machine.AddsForAnyEpoch, machine.AddsWhileEnding, machine.NoMarkers, machine.CompletesEarly, machine.MarkersReversed, machine.TakesAnyMarker,
	machine.AppendsUnasked, machine.StableTooFar,
}

// ofProducers are the mutants about what producers, idempotence and transactions promise.
var ofProducers = append([]machine.Mutant{
	machine.DrainsReadyOnly, machine.MutesNothing, machine.ReenqueuesAtEnd, machine.ExpiresFromRetry, machine.SplitReversed, machine.RetriesOutOfOrder,
	machine.SequencesByBatch, machine.RetriesRenumbered, machine.ResendsSequence, machine.SameEpochAfterGap, machine.AppendsDuplicates, machine.IgnoresSequence,
	machine.ForgetsProducers, machine.DuplicatesAtEnd, machine.TakesOldEpochs, machine.IgnoresHints, machine.IgnoresTopicCodec, machine.NeverLearnsRatio,
	machine.GuardsForever,
}, inTransactions...)

// There are broken rules enough about producers and transactions, and each is either hunted here or has its test in
// package machine.
func TestMutantsOfProducers(t *testing.T) {
	if n := len(ofProducers); n < 15 {
		t.Errorf("%d mutants, want 15", n)
	}
	source, err := os.ReadFile("machine/mutant_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants(t) {
		test := regexp.MustCompile(`\{` + m.name + `, "(Test\w+)"\}`).FindStringSubmatch(string(source))
		if slices.Contains(elsewhere, m.id) && test == nil {
			t.Errorf("%s has no test in package machine", m.name)
		}
		if slices.Contains(ofProducers, m.id) {
			how := "schedules"
			if test != nil {
				how = test[1]
			}
			t.Logf("%-20s caught by %-45s %s", m.name, how, m.what)
		}
	}
}

// inGroups are the mutants that schedules with a group catch.
var inGroups = []machine.Mutant{
	machine.GenerationStays, machine.CommitsThePosition, machine.ForgetsCommits,
	machine.GivesHeldPartitions, machine.RevokesUnasked, machine.KeepsFetching,
	machine.AnswersPending, machine.MemberAhead, machine.AssignsTwice, machine.ProcessesAnyway, machine.TrustsOldMetadata,
}

// mutantSchedules is how many schedules a mutant may survive.
const mutantSchedules = 12_000

// firstSeed is where a hunt for a mutant begins that hardly any schedule catches.
var firstSeed = map[machine.Mutant]uint64{
	machine.KeepsEpochCache: 1700, machine.WrongLastEpoch: 1900, machine.HighWatermarkGoesBack: 5200,
	machine.EndsForAnyEpoch: 90, machine.TakesAnyMarker: 400, machine.EpochEndOffByOne: 6600, machine.CreditsDiverging: 12_000,
	machine.RevokesUnasked: 600, machine.KeepsFetching: 400, machine.AnswersPending: 1690, machine.MemberAhead: 220, machine.TrustsOldMetadata: 15_150,
}

// Every broken rule is noticed.
func TestMutantsAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, m := range mutants(t) {
		t.Run(m.name, func(t *testing.T) {
			if slices.Contains(elsewhere, m.id) {
				t.Skip("caught in package machine")
			}
			start := time.Now()
			draw := drawSchedule
			switch {
			case slices.Contains(inTransactions, m.id):
				draw = drawTxnSchedule
			case slices.Contains(inGroups, m.id):
				draw = drawGroupSchedule
			}
			seed, runs, f := huntIn(draw, firstSeed[m.id], mutantSchedules, m.id, time.Time{})
			if f == nil {
				t.Fatalf("%s: lives through %d schedules", m.what, runs)
			}
			how := fmt.Sprintf("invariant %d", f.number)
			if f.number == 0 {
				how = "a panic"
			}
			if slices.Contains(byWatch, m.id) && !strings.Contains(f.text, ", after t=") {
				t.Errorf("%s is noticed, but not by Watch: %s", m.name, f.text)
			}
			t.Logf("%-26s caught by %s in schedule %d (%d run, %v): %s", m.name, how, seed, runs, time.Since(start).Round(time.Millisecond), f.text)
		})
	}
}

// Parts of the project whose rules have at least so many broken twins, each caught by TestMutantsAreCaught here or by
// TestMutantsAreCaughtHere in package machine.
var mutantsByPart = map[string][]machine.Mutant{
	"one owner, generations, epochs": {machine.AssignsTwice, machine.HandsOverAtOnce, machine.KeepsRevoked, machine.GenerationStays, machine.KeepsAbsentMembers,
		machine.GivesHeldPartitions, machine.RevokesUnasked, machine.KeepsFetching, machine.AnyMemberEpoch, machine.EpochStands, machine.MemberAhead, machine.SaysLittle},
	"membership": {machine.KeepsOldInstances, machine.StaticRejoinRebalances, machine.SessionsNeverEnd, machine.PollsNeverEnd},
	"commits": {machine.ForgetsCommits, machine.ReadsUncommitted, machine.IgnoresGeneration, machine.CommitsAnyEpoch, machine.AnswersPending, machine.ExpiresSubscribed,
		machine.CommitsThePosition, machine.CommitsEarly, machine.ProcessesAnyway},
	"reading": {machine.SendsToLaggingReplica, machine.PrefersForEver, machine.KeepsPreferredReplica, machine.ReadsBelowPosition, machine.SkipsValidation,
		machine.ResetsByDurationToEnd, machine.TrustsOldMetadata},
	"logs, quotas": {machine.CleanerDropsLast, machine.DeletesUncommitted, machine.QuotaNeverThrottles, machine.QuotaLeavesUnmuted},
	"share groups": {machine.SharesTwice, machine.DeliversForEver, machine.ForgetsAcknowledged, machine.SharesStartJumps, machine.LocksForEver, machine.TakesAnyAck,
		machine.SharesWithoutLimit},
}

// Consumers and groups have at least forty, named once each.
func TestMutantsOfGroups(t *testing.T) {
	names := map[machine.Mutant]string{}
	for _, m := range mutants(t) {
		names[m.id] = m.name
	}
	seen := map[machine.Mutant]bool{}
	for _, part := range slices.Sorted(maps.Keys(mutantsByPart)) {
		var list []string
		for _, m := range mutantsByPart[part] {
			if seen[m] || names[m] == "" {
				t.Errorf("%s: mutant %d is named twice, or is none", part, m)
			}
			seen[m] = true
			list = append(list, names[m])
		}
		t.Logf("%s: %s", part, strings.Join(list, ", "))
	}
	if len(seen) < 40 {
		t.Errorf("%d mutants, want 40", len(seen))
	}
}
