package oracle

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var recordings = flag.String("recordings", "testdata", "folder of recordings to replay")

// partly are the recordings that end in steps about something that the simulator does not have; what comes
// before is compared.
var partly = map[string]string{}

// TestRecordings replays every recording of the folder: what real brokers did is what the simulator does.
func TestRecordings(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(*recordings, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s (%v)", *recordings, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			rec, err := load(file)
			if err != nil {
				t.Fatal(err)
			}
			r := newReplay(t, rec)
			for i, step := range rec.Steps {
				r.at = i
				err := r.do(step.Do, rec.saw(i))
				if why := partly[rec.Scenario]; why != "" && errors.Is(err, errInexpressible) {
					t.Logf("compared up to step %d: %s (%v)", i, why, err)
					return
				}
				if errors.Is(err, errInexpressible) {
					t.Skipf("step %d %s: %v", i, step.Do.name(), err)
				} else if err != nil {
					t.Fatalf("step %d at t=%d ms, %v: %v", i, r.Now/millis, describe(step.Do), err)
				}
			}
		})
	}
}

func describe(op Operation) string {
	var words []string
	for _, field := range []string{"op", "topic", "broker", "toBroker", "acks", "offset", "isr", "leader", "note"} {
		if op.has(field) {
			words = append(words, field+"="+string(op[field]))
		}
	}
	return strings.Join(words, " ")
}

// README.md's list of what is not here is true: no file of testdata is on it.
func TestReadmeListsWhatIsMissing(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "| recordings | why |")
	if !ok {
		t.Fatal("README.md has no table of what is not here")
	}
	names := 0
	for _, row := range strings.Split(table, "\n") {
		cells := strings.Split(row, "|")
		if len(cells) < 3 {
			continue
		}
		version := regexp.MustCompile(`of (\d+\.\d+\.\d+)`).FindStringSubmatch(cells[1])
		for _, name := range regexp.MustCompile(`\b[a-z]{1,2}\d\b`).FindAllString(cells[1], -1) {
			names++
			pattern := name + "-*.json"
			if version != nil {
				pattern = name + "-*-v" + version[1] + ".json"
			}
			if there, _ := filepath.Glob(filepath.Join("testdata", pattern)); len(there) > 0 {
				t.Errorf("README.md says that %s is not here, but there is %s", name, there[0])
			}
		}
	}
	if names == 0 {
		t.Error("the table names no recording")
	}
}
