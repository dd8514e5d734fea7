package kafkasim

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
)

// ruleID is a rule as code cites it: R1.12a is a part of R1.12.
var ruleID = regexp.MustCompile(`\b(R\d+\.\d+|[PCO]-\d+)[a-z]?\b`)

// ruleRange is a run of rules: "P-82 to P-86", "R3.15–R3.18".
var ruleRange = regexp.MustCompile(`\b([PCO])-(\d+)(?: to |–)[PCO]-(\d+)`)

// sources calls f with every Go file and story that may cite a rule.
func sources(t *testing.T, f func(path, text string)) {
	for _, root := range []string{".", "../tests/stories", "../tests/oracle"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path == "fidelity_test.go" || !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".txt") {
				return err
			}
			text, err := os.ReadFile(path)
			f(path, string(text))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// FIDELITY.md and the code agree: what is cited is listed and not absent, what is called modelled is cited.
func TestFidelityIsWhatTheCodeCites(t *testing.T) {
	state := map[string]string{}
	file, err := os.Open("FIDELITY.md")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		cells := strings.Split(lines.Text(), "|")
		if len(cells) < 5 || !ruleID.MatchString(cells[1]) {
			continue
		}
		id, s := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])
		if state[id] != "" {
			t.Errorf("%s is listed twice", id)
		}
		if s != "modelled" && s != "simplified" && s != "absent" {
			t.Errorf("%s is %q", id, s)
		}
		if strings.TrimSpace(cells[3]) == "" {
			t.Errorf("%s: no word about it", id)
		}
		state[id] = s
	}
	cited := map[string]bool{}
	sources(t, func(path, text string) {
		for _, m := range ruleID.FindAllStringSubmatch(text, -1) {
			cited[m[1]] = true
			switch state[m[1]] {
			case "":
				t.Errorf("%s cites %s, which FIDELITY.md does not list", path, m[1])
			}
		}
		for _, m := range ruleRange.FindAllStringSubmatch(text, -1) {
			for n := number(m[2]); n <= number(m[3]); n++ {
				cited[m[1]+"-"+itoa(n)] = true
			}
		}
	})
	for id, s := range state {
		if s == "modelled" && !cited[id] {
			t.Errorf("%s is called modelled, and nothing cites it", id)
		}
	}
}

func number(s string) (n int) {
	for _, c := range s {
		n = n*10 + int(c-'0')
	}
	return n
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

// Every property that is taken does something: the machine reads its field.
func TestEveryPropertyIsRead(t *testing.T) {
	var text strings.Builder
	files, _ := filepath.Glob("machine/*.go")
	for _, f := range files {
		if !strings.HasSuffix(f, "_test.go") {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(data)
		}
	}
	for _, x := range []reflect.Type{reflect.TypeFor[config.Broker](), reflect.TypeFor[config.Topic](), reflect.TypeFor[config.Producer](), reflect.TypeFor[config.Consumer]()} {
		for i := range x.NumField() {
			if name := x.Field(i).Name; !regexp.MustCompile(`\.` + name + `\b`).MatchString(text.String()) {
				t.Errorf("config.%s.%s is taken and never read", x.Name(), name)
			}
		}
	}
}

// Every switch of a generation is listed once, in words.
func TestFidelityListsEverySwitch(t *testing.T) {
	text, err := os.ReadFile("FIDELITY.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range machine.Switches() {
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(i.Name) + ` \| (modelled|simplified|absent) \| ` + regexp.QuoteMeta(i.Source) + `: .+ \|$`)
		if n := len(row.FindAllString(string(text), -1)); n != 1 {
			t.Errorf("%s (%s) has %d rows", i.Name, i.Source, n)
		}
	}
}
