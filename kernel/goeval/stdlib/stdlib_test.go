package stdlib

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// TestGeneratedFilesAreFresh compares what is in the repository with what the generator writes now.
func TestGeneratedFilesAreFresh(t *testing.T) {
	if testing.Short() || !strings.HasPrefix(runtime.Version(), "go1.26") {
		t.Skip("the files are those of Go 1.26")
	}
	out, err := exec.Command("go", "run", "kafkalab/kernel/goeval/gensymbols", "-check", "-package", "stdlib",
		"-docs", "all", "-list", "packages.txt", "-sources", "slices,maps,cmp", "-out", "symbols.go", "-exports", "exports.zip").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestSourcesOfGenericFunctions(t *testing.T) {
	for _, path := range []string{"iter", "sync", "reflect", "errors"} {
		if len(Source(path)) == 0 {
			t.Errorf("no source of %s", path)
		}
	}
	if Source("fmt") != nil {
		t.Error("a source of fmt")
	}
}
