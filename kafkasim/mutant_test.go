package kafkasim

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
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
	machine.SharesAborted, machine.TakesAnyShareEpoch, machine.KeepsOfTheGone, machine.ReadsWithoutFence, machine.AnyShareLeader, machine.AnyStateEpoch, machine.SkipsUnsettled, machine.KeepsTopicsState,
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
	machine.KeepsOldInstances, machine.KeepsAbsentMembers, machine.GenerationStays, machine.StaticRejoinRebalances, machine.IgnoresGeneration,
	machine.SessionsNeverEnd, machine.PollsNeverEnd, machine.ExpiresSubscribed, machine.HandsOverAtOnce, machine.KeepsRevoked,
	machine.CommitsThePosition, machine.CommitsEarly, machine.ForgetsCommits, machine.ReadsUncommitted,
	machine.AddsForAnyEpoch, machine.AddsWhileEnding, machine.EndsForAnyEpoch, machine.SameEpochAtEnd, machine.AnswersBeforeTheLog,
	machine.NoMarkers, machine.ForgetsAPartition, machine.CompletesEarly, machine.MarkersReversed, machine.TakesAnyMarker,
	machine.AppendsUnasked, machine.GuardsForever, machine.NeverTimesOut,
	machine.GivesHeldPartitions, machine.RevokesUnasked, machine.AnyMemberEpoch, machine.EpochStands, machine.CommitsAnyEpoch, machine.KeepsFetching,
}

// mutantSchedules is how many schedules a mutant may survive.
const mutantSchedules = 12_000

// firstSeed is where a hunt for a mutant begins that hardly any schedule catches.
var firstSeed = map[machine.Mutant]uint64{
	machine.KeepsEpochCache: 1700, machine.WrongLastEpoch: 1900, machine.HighWatermarkGoesBack: 5200,
	machine.EpochEndOffByOne: 6600, machine.CreditsDiverging: 12_000,
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
			seed, runs, f := hunt(firstSeed[m.id], mutantSchedules, m.id, time.Time{})
			if f == nil {
				t.Fatalf("%s: lives through %d schedules", m.what, runs)
			}
			how := fmt.Sprintf("invariant %d", f.number)
			if f.number == 0 {
				how = "a panic"
			}
			t.Logf("%-26s caught by %s in schedule %d (%d run, %v): %s", m.name, how, seed, runs, time.Since(start).Round(time.Millisecond), f.text)
		})
	}
}
