package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestProgramsThatGoRunStartsAreGoneSoon(t *testing.T) {
	for path, want := range map[string]bool{
		"/tmp/go-build123/b001/exe/kafkalab":                                    true,
		"/home/ada/.cache/go-build/8b/8b" + hex62 + "-d/kafkalab":               true,
		"/var/own-cache/8b/8b" + hex62 + "-d/kafkalab":                          true,
		`C:\Users\Ada\AppData\Local\go-build\8b\8b` + hex62 + `-d\kafkalab.exe`: true,
		"/usr/local/bin/kafkalab":                                               false,
		"/home/ada/go/bin/kafkalab":                                             false,
		"/home/ada/go-builder/kafkalab":                                         false,
		"/tmp/kafkalab":                                                         false,
	} {
		if passing.MatchString(path) != want {
			t.Errorf("passing %s: %v, want %v", path, !want, want)
		}
	}
}

const hex62 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcd"

func TestTheCopyIsRenewedAndRuns(t *testing.T) {
	dir := t.TempDir()
	self := filepath.Join(dir, "built")
	bin := filepath.Join(dir, "my data", "bin")
	for _, edition := range []string{"first", "second", "second"} {
		if err := os.WriteFile(self, []byte(edition), 0o755); err != nil {
			t.Fatal(err)
		}
		copied, err := copyProgram(self, bin)
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := os.ReadFile(copied); string(text) != edition {
			t.Errorf("the copy holds %q, want %q", text, edition)
		}
		if info, _ := os.Stat(copied); info.Mode()&0o100 == 0 {
			t.Error("the copy cannot be executed")
		}
	}
}
