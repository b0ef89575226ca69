// Package recordtest is the contract of record.Store as tests: every store runs it and so is held to the same promises.
// It also has faults to inject into a store, for the tests of whoever uses one.
package recordtest

import (
	"testing"

	"github.com/mash-hub/mash/pkg/record"
)

// Run holds the stores that open makes to the contract of record.Store. Each case opens one of its own, which must be
// empty and see no other; open cleans up by t.Cleanup. The cases run in parallel.
func Run(t *testing.T, open func(t *testing.T) record.Store) {
	t.Helper()
	cases := []struct {
		name string
		test func(*testing.T, record.Store)
	}{
		{"GetAnswersInTheOrderOfTheKeys", getAnswersInOrder},
		{"GetReturnsWhatWasPut", getReturnsWhatWasPut},
		{"GetReturnsBigRecords", getReturnsBigRecords},
		{"ConditionsWin", conditionsWin},
		{"ConditionsLose", conditionsLose},
		{"ConflictNamesTheLosers", conflictNamesTheLosers},
		{"RevNeverComesBack", revNeverComesBack},
		{"CommitIsAllOrNothing", commitIsAllOrNothing},
		{"CommitOfNothing", commitOfNothing},
		{"ListIsOrderedByBytes", listIsOrderedByBytes},
		{"ListReturnsUpToLimit", listReturnsUpToLimit},
		{"ListOfBigRecords", listOfBigRecords},
		{"ListPagesWhileOthersWrite", listPagesWhileOthersWrite},
		{"IndexIsOrderedAndResumable", indexIsOrdered},
		{"IndexBreaksTiesByKey", indexBreaksTies},
		{"IndexFollowsTheTags", indexFollowsTags},
		{"DueFindsAllShards", dueFindsAll},
		{"DueGoesOnAfterAnEntry", dueGoesOn},
		{"DueFollowsTheRecord", dueFollows},
		{"EraseIsKept", eraseIsKept},
		{"Misuse", misuse},
		{"TooLarge", tooLarge},
		{"LargestAllowed", largestAllowed},
		{"LostAnswerIsNoLostRace", lostAnswer},
		{"LostAnswerThenOvertaken", lostAnswerOvertaken},
		{"LoneEraseOfNothingIsDone", loneErase},
		{"OneWinnerPerRound", oneWinner},
		{"FiftyRacersAtEachOfFiftyKeys", crowdedKeys},
		{"TransfersKeepTheSum", transfers},
		{"OverlappingCommitsNeverDeadlock", overlapping},
		{"EndedContext", endedContext},
		{"ContextEndsMeanwhile", contextEndsMeanwhile},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, open(t))
		})
	}
}
