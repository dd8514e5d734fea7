package machine

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// Every command can be saved, whole: the list has every type that is a Command, and each comes back as it was.
func TestEveryCommandIsSaved(t *testing.T) {
	listed := map[string]bool{}
	for _, k := range commandKinds {
		v := reflect.New(reflect.TypeOf(k)).Elem()
		listed[v.Type().Name()] = true
		fill(v, 0)
		saved, err := SaveCommand(v.Interface().(Command))
		if err != nil {
			t.Fatal(err)
		}
		got, err := saved.Load()
		if err != nil || !reflect.DeepEqual(got, v.Interface()) {
			t.Errorf("%T comes back as %+v (%v), want %+v", k, got, err, v.Interface())
		}
	}
	files, _ := filepath.Glob("*.go")
	is := regexp.MustCompile(`(?m)^func \((\w+)\) command\(\)`)
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range is.FindAllStringSubmatch(string(text), -1) {
			if !listed[m[1]] {
				t.Errorf("%s is a command and cannot be saved", m[1])
			}
		}
	}
	if _, err := (&SavedCommand{Kind: "Tea"}).Load(); err == nil {
		t.Error("an unknown command is loaded")
	}
}
