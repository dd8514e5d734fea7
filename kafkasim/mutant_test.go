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
	machine.LinksReorder,
}

// mutantSchedules is how many schedules a mutant may survive.
const mutantSchedules = 12_000

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
			seed, runs, f := hunt(0, mutantSchedules, m.id, time.Time{})
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
