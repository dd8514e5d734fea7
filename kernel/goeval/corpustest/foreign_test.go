package corpustest

import (
	"bufio"
	"fmt"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"sort"
	"strings"
	"testing"
	"time"
)

// foreign is a program of a collection that is not ours.
type foreign struct {
	name   string
	source string
	want   string // on both streams together
	end    string // the end that is wanted, by its kind
	limit  time.Duration
}

// TestForeign runs the collections that -corpus names. None of their programs may be silently wrong,
// unless exceptions.txt says why.
func TestForeign(t *testing.T) {
	// How many must be equal at least. What yaegi's programs need beyond that is unsafe pointers and
	// command-line flags, which cells refuse.
	collections := map[string]struct {
		read  func(testing.TB) []foreign
		equal int
	}{"yaegi": {readYaegi, 868}, "go": {readGo, 905}}
	for _, name := range strings.Split(*corpora, ",") {
		if name == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			c, ok := collections[name]
			if !ok {
				t.Fatalf("there is no collection %q: yaegi, go", name)
			}
			runForeign(t, name, c.read(t), c.equal)
		})
	}
}

func runForeign(t *testing.T, collection string, all []foreign, least int) {
	excepted := readExceptions(t, collection)
	var jobs []job
	for _, f := range all {
		jobs = append(jobs, job{f.source, f.limit})
	}
	groups := map[string][]string{}
	err := inChildren(2, jobs, func(i int, o outcome) {
		f := all[i]
		v := f.judge(o)
		if v != equal && strings.HasPrefix(excepted[f.name], stale) && judge(crlf(o), f.compiled(t)) == equal {
			v = equal
			delete(excepted, f.name)
		}
		switch {
		case v == equal:
			if _, ok := excepted[f.name]; ok {
				t.Logf("%s is equal now: take it off the exceptions", f.name)
			}
		case excepted[f.name] != "":
			v = "excepted"
		case v == refused:
			groups["refused "+reason(o.End)] = append(groups["refused "+reason(o.End)], f.name)
		default:
			t.Errorf("%s %s: end %q, want %q\n%s", v, f.name, o.End, f.end, difference(o.Both, f.want))
		}
		groups[string(v)] = append(groups[string(v)], f.name)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d programs: equal %d, refused %d, excepted %d, loud %d, silently wrong %d", len(all), len(groups["equal"]),
		len(groups["refused"]), len(groups["excepted"]), len(groups["loud"]), len(groups["wrong"]))
	var keys []string
	for k := range groups {
		if strings.HasPrefix(k, "refused ") {
			keys = append(keys, k)
		}
	}
	sort.Slice(keys, func(i, j int) bool { return len(groups[keys[i]]) > len(groups[keys[j]]) })
	for _, k := range keys {
		t.Logf("%4d %s: %s", len(groups[k]), k, strings.Join(groups[k], " "))
	}
	if *only == "" && len(groups["equal"]) < least {
		t.Errorf("%d programs are equal, want %d", len(groups["equal"]), least)
	}
}

func (f *foreign) judge(o outcome) verdict {
	text := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	switch {
	case o.kind() == "refused":
		return refused
	case o.kind() == f.end && (text(o.Both) == text(f.want) || f.end != ""):
		return equal
	case o.End != "":
		return loud
	}
	return wrong
}

// stale begins the reasons of exceptions whose file expects something else than compiled Go does: they are
// compared with what the program prints when it is compiled.
const stale = "stale:"

// compiled runs the program as compiled Go.
func (f *foreign) compiled(t testing.TB) outcome {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module corpus\n\ngo 1.26\n")
	write(t, filepath.Join(dir, "p", "prog.go"), f.source)
	bin := filepath.Join(dir, "bin") + string(filepath.Separator)
	os.MkdirAll(bin, 0o755)
	if msg, bad := build(t, dir, bin)["p"]; bad {
		return outcome{End: "compile: " + msg}
	}
	o := compiledRun(t, filepath.Join(bin, "p"))
	return crlf(o)
}

var quotedName = regexp.MustCompile(`^refused: (\[\d+\]:\d+:\d+: )?`)

func reason(end string) string { return quotedName.ReplaceAllString(end, "") }

// difference shows the first line where two texts part.
func difference(got, want string) string {
	g, w := strings.Split(strings.TrimSpace(got), "\n"), strings.Split(strings.TrimSpace(want), "\n")
	for i := range max(len(g), len(w)) {
		a, b := "(nothing)", "(nothing)"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("    line %d\n    got  %.300q\n    want %.300q", i+1, a, b)
		}
	}
	return "    (same output)"
}

// readExceptions reads exceptions.txt: collection, program, reason.
func readExceptions(t testing.TB, collection string) map[string]string {
	f, err := os.Open("exceptions.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]string{}
	for s := bufio.NewScanner(f); s.Scan(); {
		words := strings.SplitN(strings.TrimSpace(s.Text()), " ", 3)
		if len(words) == 3 && words[0] == collection {
			out[words[1]] = strings.TrimSpace(words[2])
		}
	}
	return out
}

func goTool(t testing.TB, args ...string) string {
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Skipf("go %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// readYaegi reads the programs of yaegi's _test folder that say what they print.
func readYaegi(t testing.TB) []foreign {
	dir := filepath.Join(goTool(t, "list", "-m", "-f", "{{.Dir}}", "github.com/traefik/yaegi"), "_test")
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	if len(files) == 0 {
		t.Skip("yaegi's test programs are not in the module cache")
	}
	var all []foreign
	for _, path := range files {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f := foreign{name: filepath.Base(path), source: string(src), limit: 10 * time.Second}
		if !strings.Contains(f.name, *only) {
			continue
		}
		if strings.Contains(f.source, `"github.com/traefik/yaegi/`) {
			continue // needs packages of yaegi's own
		}
		if want, end, ok := yaegiWants(f.source); ok {
			f.want, f.end = want, end
			all = append(all, f)
		}
	}
	return all
}

// yaegiWants reads the last comment of a program: "Output:" or "Error:", then the text.
func yaegiWants(src string) (want, end string, ok bool) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", src, parser.ParseComments)
	if err != nil || len(f.Comments) == 0 {
		return "", "", false
	}
	text := f.Comments[len(f.Comments)-1].Text()
	if strings.HasPrefix(text, "GOPATH:") {
		return "", "", false // needs packages of a tree of its own
	}
	if _, after, found := strings.Cut(text, "Error:\n"); found {
		if strings.Contains(after, "panic") || strings.Contains(after, "exit") {
			return "", "panic", true
		}
		return "", "compile", true
	}
	text, found := strings.CutPrefix(text, "Output:\n")
	return text, "", found
}

// readGo reads the single-file programs of the Go distribution's test folder that are made to be run.
func readGo(t testing.TB) []foreign {
	root := filepath.Join(goTool(t, "env", "GOROOT"), "test")
	var all []foreign
	filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		name, _ := filepath.Rel(root, path)
		if d.IsDir() && strings.HasSuffix(name, ".dir") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || !strings.Contains(name, *only) {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil || !isRun(string(src)) {
			return nil
		}
		want, _ := os.ReadFile(strings.TrimSuffix(path, ".go") + ".out")
		all = append(all, foreign{name: filepath.ToSlash(name), source: string(src), want: string(want), limit: time.Minute})
		return nil
	})
	if len(all) == 0 {
		t.Skip("this GOROOT has no test folder")
	}
	return all
}

// isRun reports whether a test is a program to be run as it is, here.
func isRun(src string) bool {
	for line := range strings.Lines(src) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case constraint.IsGoBuild(line):
			if x, err := constraint.Parse(line); err == nil && !x.Eval(buildTag) {
				return false
			}
		case strings.HasPrefix(line, "// run"):
			return line == "// run" || strings.HasPrefix(line, "// run -")
		case strings.HasPrefix(line, "//"):
		default:
			return false
		}
	}
	return false
}

func buildTag(tag string) bool {
	switch tag {
	case runtime.GOOS, runtime.GOARCH, "unix", "gc":
		return true
	}
	return strings.HasPrefix(tag, "go1.")
}
