package machine

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// underTest is the broken rule that this process runs its tests with; 0 unless TestMutantsAreCaughtHere has
// started it.
var underTest = func() Mutant {
	n, _ := strconv.Atoi(os.Getenv("KAFKALAB_MUTANT"))
	return Mutant(n)
}()

// caughtHere are the mutants that break no invariant, or do so where hardly any random schedule comes, and the
// tests of this package that catch them. The others are for package kafkasim's TestMutantsAreCaught.
var caughtHere = []struct {
	mutant Mutant
	test   string
}{
	{QuotaNeverThrottles, "TestThrottledConnectionIsMuted"},
	{QuotaLeavesUnmuted, "TestThrottledConnectionIsMuted"},
	{RequestThrottleUnbounded, "TestRequestPercentage"},
	{MutationsUnchecked, "TestControllerMutationRate"},
	{ThrottlesInSync, "TestThrottledReassignmentR335"},
	{TakesStaleAnswers, "TestAnswerOfAnEarlierEpochIsDropped"},
	{HighWatermarkByCommitted, "TestPendingGrowthHoldsTheHighWatermark"},
	{CreditsFormerLife, "TestFetchOfAFormerLife"},
	{ExpandsBelowEpochStart, "TestExpandNeedsTheStartOfTheEpoch"},
	{ShrinksWithoutLag, "TestG3HungFollowerHoldsAcksAllBack"},
	{AlterIgnoresLeaderEpoch, "TestAlterPartitionRefusals"},
	{AlterIgnoresBrokerEpoch, "TestAlterPartitionRefusals"},
	{RegistersAtOnce, "TestG11FastRestart"},
	{StopsWithoutHandover, "TestControlledShutdown"},
	{StopsWithoutFlush, "TestControlledShutdown"},
	{OldMetadataCounts, "TestOlderMetadataChangesNothing"},
	{MinISRByMaximal, "TestMinimumCountsTheCommittedISR"},
	{RetriesOutOfOrder, "TestRetriesInOrderP56"},
	{SendsToLaggingReplica, "TestPreferredReplicaC50"},
	{PrefersForEver, "TestFetchFromFollowerC51"},
	{KeepsPreferredReplica, "TestOutOfRangeAtAFollowerC36"},
	{ReadsBelowPosition, "TestPositionInsideABatchC21"},
	{SkipsValidation, "TestTruncationSeenByConsumersC43"},
	{ResetsByDurationToEnd, "TestResetByDurationC34"},
	{TakesAnySessionEpoch, "TestFetchSession"},
	{SessionHidesHighWatermark, "TestG1CommitByTheNextFetch"},
	{DrainsReadyOnly, "TestDrainTakesTheBrokersPartitionsAlongP37"},
	{MutesNothing, "TestMutedAcrossBrokersP55"},
	{ReenqueuesAtEnd, "TestFailedBatchGoesToTheFrontP68"},
	{ExpiresFromRetry, "TestDeliveryTimeoutP63"},
	{SplitReversed, "TestSplitTooLargeBatchP67"},
	{SequencesByBatch, "TestSequencesP82"},
	{RetriesRenumbered, "TestLostAcknowledgementP70"},
	{ResendsSequence, "TestSequencesP82"},
	{SameEpochAfterGap, "TestEpochBumpP88"},
	{IgnoresHints, "TestLeaderHintP62"},
	{DuplicatesAtEnd, "TestFiveBatchesAreRemembered"},
	{TakesOldEpochs, "TestFiveBatchesAreRemembered"},
	{IgnoresTopicCodec, "TestTopicCompressesAnewP108"},
	{NeverLearnsRatio, "TestCompressedCutsP33"},
	{LinksReorder, "TestG1CommitByTheNextFetch"},
	{AddsForAnyEpoch, "TestZombie"},
	{AddsWhileEnding, "TestTransactionWaitsForEveryMarker"},
	{EndsForAnyEpoch, "TestEndTxnTable"},
	{SameEpochAtEnd, "TestTransactionV2"},
	{AnswersBeforeTheLog, "TestCoordinatorFailover"},
	{NoMarkers, "TestTransactionV2"},
	{ForgetsAPartition, "TestTransactionWaitsForEveryMarker"},
	{CompletesEarly, "TestTransactionWaitsForEveryMarker"},
	{MarkersReversed, "TestTransactionV2"},
	{TakesAnyMarker, "TestMarkersOfOldEpochs"},
	{AppendsUnasked, "TestTransactionV2"},
	{GuardsForever, "TestMarkerBetweenAnswerAndAppend"},
	{NeverTimesOut, "TestTransactionTimesOut"},
	{KeepsOldInstances, "TestGroupStaticAndFailover"},
	{KeepsAbsentMembers, "TestRebalanceTimeouts"},
	{GenerationStays, "TestRebalanceTimeouts"},
	{StaticRejoinRebalances, "TestGroupStaticAndFailover"},
	{IgnoresGeneration, "TestCommitsOfGenerations"},
	{SessionsNeverEnd, "TestGroupCrash"},
	{PollsNeverEnd, "TestGroupSlowConsumer"},
	{ExpiresSubscribed, "TestOffsetsExpire"},
	{HandsOverAtOnce, "TestGroupCooperative"},
	{KeepsRevoked, "TestGroupCooperative"},
	{CommitsThePosition, "TestCrashBeforeAndAfterCommit"},
	{CommitsEarly, "TestAutoCommit"},
	{SharesTwice, "TestShareGroupRandom"},
	{DeliversForEver, "TestShareGroupRandom"},
	{ForgetsAcknowledged, "TestShareGroupFailover"},
	{SharesStartJumps, "TestShareGroupRandom"},
	{LocksForEver, "TestShareGroupQ1"},
	{TakesAnyAck, "TestShareGroupQ1"},
	{SharesWithoutLimit, "TestShareGroupRecordLocksH9"},
	{SharesAborted, "TestShareIsolationH15"},
	{TakesAnyShareEpoch, "TestShareSessionsH16"},
	{KeepsOfTheGone, "TestShareSessionEndsH8"},
	{ReadsWithoutFence, "TestShareStateFencingH19"},
	{AnyShareLeader, "TestShareStateFencingH19"},
	{AnyStateEpoch, "TestShareStateFencingH19"},
	{SkipsUnsettled, "TestShareGroupRandom"},
	{KeepsTopicsState, "TestShareStateDeletedH19"},
	{PrunesTooMuch, "TestShareStatePrunedH19"},
	{ForgetsCommits, "TestCommitThroughFailover"},
	{ReadsUncommitted, "TestReadsWhatIsReplicated"},
	{AlterTakesFenced, "TestAlterPartitionRefusals"},
	{IgnoresSequence, "TestGapInSequenceIsRefused"},
	{VotesForShorter, "TestShorterLogGetsNoVote"},
	{StandsAtOnce, "TestPreVoteContrast"},
	{PreVotesWithLeader, "TestWhoHearsItsLeaderRefusesPreVotes"},
	{ForgetsVote, "TestControllerStartsFromItsDisk"},
	{CommitsOlderEpoch, "TestMetadataHighWatermark"},
	{LeadsWithoutMajority, "TestMajorityLostAndBack"},
	{KeepsEpochResigned, "TestMajorityLostAndBack"},
	{ActsBeforeCommit, "TestNewLeaderWaitsForItsFirstRecord"},
	{AnswersBeforeCommit, "TestResigningAnswersWhoWaits"},
	{KeepsUncommitted, "TestSplitQuorumDiverges"},
	{FetchesAnyEpoch, "TestMetadataFetchAnswers"},
	{TakesStaleMetadata, "TestWhatAnswersTellOfTheLeader"},
	{TellsUncommitted, "TestBrokersGetWhatIsCommitted"},
	{RenouncesNothing, "TestResigningAnswersWhoWaits"},
	{SessionsExpireAtOnce, "TestSoleControllerRestarts"},
	{HeartbeatOfAnyEpoch, "TestHeartbeatOfAnotherBrokerEpoch"},
	{TrustsAnyMarker, "TestMarkerOfAnEarlierLife"},
	{GivesHeldPartitions, "TestConsumerGroupHeartbeats"},
	{RevokesUnasked, "TestConsumerGroupHeartbeats"},
	{AnyMemberEpoch, "TestConsumerGroupHeartbeats"},
	{EpochStands, "TestConsumerGroupHeartbeats"},
	{CommitsAnyEpoch, "TestConsumerGroupHeartbeats"},
	{KeepsFetching, "TestConsumerProtocolGivesUp"},
	{SaysLittle, "TestEverythingIsSaidAfterAnError"},
}

// Each of them passes without the mutant and fails with it.
func TestMutantsAreCaughtHere(t *testing.T) {
	if underTest != NoMutant {
		t.Skip("this is the inner run")
	}
	for _, x := range caughtHere {
		for _, m := range []Mutant{NoMutant, x.mutant} {
			cmd := exec.Command(os.Args[0], "-test.run=^"+x.test+"$", "-test.v")
			cmd.Env = append(os.Environ(), "KAFKALAB_MUTANT="+strconv.Itoa(int(m)))
			out, err := cmd.CombinedOutput()
			ran := bytes.Contains(out, []byte("=== RUN"))
			switch {
			case !ran:
				t.Errorf("there is no test %s", x.test)
			case m == NoMutant && err != nil:
				t.Errorf("%s fails by itself:\n%s", x.test, out)
			case m != NoMutant && err == nil:
				t.Errorf("mutant %d lives: %s passes", m, x.test)
			}
		}
	}
}
