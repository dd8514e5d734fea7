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

// ruleID is a rule as code cites it: R1.12a is a part of R1.12, and three rules have a letter of their own.
var ruleID = regexp.MustCompile(`\b(R1\.16b|R2\.11[bc]|R\d+\.\d+|[PCTOGAKHS]-\d+|SR-\d+)[a-z]?\b`)

// ruleRange is a run of rules: "P-82 to P-86", "R3.15–R3.18".
var ruleRange = regexp.MustCompile(`\b([PCTOGAKHS]-|SR-|R\d\.)(\d+)(?: to |–)(?:[PCTOGAKHS]-|SR-|R\d\.)(\d+)`)

// chapter is a run of rules of one kind: prefix and number, from the first to the last.
type chapter struct {
	prefix      string
	first, last int
}

// complete are the kinds of rules of which every one must be listed, with its place in Kafka, and proved by a test.
var complete = []struct {
	kind     string
	extra    []string
	chapters []chapter
}{
	{"R", []string{"R1.16b", "R2.11b", "R2.11c"}, []chapter{{"R1.", 1, 32}, {"R2.", 1, 24}, {"R3.", 1, 35}, {"R4.", 1, 11}, {"R7.", 1, 15}}},
	{"P", nil, []chapter{{"P-", 1, 6}, {"P-", 10, 23}, {"P-", 30, 42}, {"P-", 50, 57}, {"P-", 60, 77}, {"P-", 80, 92}, {"P-", 100, 108}}},
	{"T", nil, []chapter{{"T-", 1, 3}, {"T-", 10, 16}, {"T-", 20, 27}, {"T-", 30, 36}, {"T-", 40, 48}, {"T-", 50, 56}, {"T-", 60, 63}, {"T-", 70, 70}}},
}

// isComplete tells whether a rule is of a kind of which every one must be listed.
func isComplete(id string) bool {
	for _, c := range complete {
		if strings.HasPrefix(id, c.kind) {
			return true
		}
	}
	return false
}

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

// listed reads FIDELITY.md: the state of every rule. Where all of a kind are listed there is a fourth column, the
// rule's place in Kafka.
func listed(t *testing.T) map[string]string {
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
		if placed := isComplete(id); placed && (len(cells) != 6 || !kafkaPlace.MatchString(cells[4])) || !placed && len(cells) != 5 {
			t.Errorf("%s: its columns are %q", id, cells[1:len(cells)-1])
		}
		state[id] = s
	}
	return state
}

// kafkaPlace is one or two classes of Kafka, with a method or without, proposals or issues.
var kafkaPlace = regexp.MustCompile("^ (`[A-Z]\\w+(\\.\\w+)?`|(KIP|KAFKA)-\\d+)(, (`[A-Z]\\w+(\\.\\w+)?`|(KIP|KAFKA)-\\d+))? $")

// citations are the rules that code cites, and those that tests, stories and recordings cite.
func citations(t *testing.T, state map[string]string) (code, tests map[string]bool) {
	code, tests = map[string]bool{}, map[string]bool{}
	sources(t, func(path, text string) {
		cited := code
		if strings.HasPrefix(path, "..") || strings.HasSuffix(path, "_test.go") {
			cited = tests
		}
		for _, m := range ruleID.FindAllStringSubmatch(text, -1) {
			cited[m[1]] = true
			if state[m[1]] == "" {
				t.Errorf("%s cites %s, which FIDELITY.md does not list", path, m[1])
			}
		}
		for _, m := range ruleRange.FindAllStringSubmatch(text, -1) {
			for n := number(m[2]); n <= number(m[3]); n++ {
				cited[m[1]+itoa(n)] = true
			}
		}
	})
	return code, tests
}

// FIDELITY.md and the code agree: what is cited is listed, and what is called modelled is cited, in code and, if
// all rules of its kind are listed, in a test.
func TestFidelityIsWhatTheCodeCites(t *testing.T) {
	state := listed(t)
	code, tests := citations(t, state)
	for id, s := range state {
		switch {
		case s != "modelled":
		case !code[id] && !tests[id]:
			t.Errorf("%s is called modelled, and nothing cites it", id)
		case isComplete(id) && !code[id]:
			t.Errorf("%s is called modelled, and no code cites it", id)
		case isComplete(id) && !tests[id]:
			t.Errorf("%s is called modelled, and no test cites it", id)
		}
	}
}

// Of some kinds every rule is listed, nothing else is, and few are absent.
func TestFidelityListsEveryRule(t *testing.T) {
	state := listed(t)
	for _, kind := range complete {
		all, absent, rows := kind.extra, 0, 0
		for _, c := range kind.chapters {
			for n := c.first; n <= c.last; n++ {
				all = append(all, c.prefix+itoa(n))
			}
		}
		for _, id := range all {
			switch state[id] {
			case "":
				t.Errorf("%s is not listed", id)
			case "absent":
				absent++
			}
		}
		for id := range state {
			if strings.HasPrefix(id, kind.kind) {
				rows++
			}
		}
		if rows != len(all) {
			t.Errorf("%d %s-rules are listed, there are %d", rows, kind.kind, len(all))
		}
		if absent*20 > len(all) {
			t.Errorf("%d of %d %s-rules are absent", absent, len(all), kind.kind)
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
