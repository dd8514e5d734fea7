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
var ruleID = regexp.MustCompile(`\b(R1\.16b|R2\.11[bc]|R\d+\.\d+|[PCTO]-\d+)[a-z]?\b`)

// ruleRange is a run of rules: "P-82 to P-86", "R3.15–R3.18".
var ruleRange = regexp.MustCompile(`\b([PCTO]-|R\d\.)(\d+)(?: to |–)(?:[PCTO]-|R\d\.)(\d+)`)

// replicationRules are all R-rules: every one must be listed.
func replicationRules() []string {
	list := []string{"R1.16b", "R2.11b", "R2.11c"}
	for _, r := range []struct {
		chapter string
		last    int
	}{{"R1.", 32}, {"R2.", 24}, {"R3.", 35}, {"R4.", 11}, {"R7.", 15}} {
		for n := 1; n <= r.last; n++ {
			list = append(list, r.chapter+itoa(n))
		}
	}
	return list
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

// listed reads FIDELITY.md: the state of every rule. A rule of replication has a fourth column, its place in Kafka.
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
		if replication := id[0] == 'R'; replication && (len(cells) != 6 || !kafkaPlace.MatchString(cells[4])) || !replication && len(cells) != 5 {
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
// it is a rule of replication, in a test.
func TestFidelityIsWhatTheCodeCites(t *testing.T) {
	state := listed(t)
	code, tests := citations(t, state)
	for id, s := range state {
		switch {
		case s != "modelled":
		case !code[id] && !tests[id]:
			t.Errorf("%s is called modelled, and nothing cites it", id)
		case id[0] == 'R' && !code[id]:
			t.Errorf("%s is called modelled, and no code cites it", id)
		case id[0] == 'R' && !tests[id]:
			t.Errorf("%s is called modelled, and no test cites it", id)
		}
	}
}

// Every rule of replication is listed, nothing else is, and few are absent.
func TestFidelityListsEveryReplicationRule(t *testing.T) {
	state := listed(t)
	all, absent, rows := replicationRules(), 0, 0
	for _, id := range all {
		switch state[id] {
		case "":
			t.Errorf("%s is not listed", id)
		case "absent":
			absent++
		}
	}
	for id := range state {
		if id[0] == 'R' {
			rows++
		}
	}
	if rows != len(all) {
		t.Errorf("%d rules of replication are listed, there are %d", rows, len(all))
	}
	if absent*20 > len(all) {
		t.Errorf("%d of %d rules are absent", absent, len(all))
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
