package headless

import (
	"strings"
	"testing"

	"kafkalab/install/notebook"
)

func withParameters(source string) *notebook.Notebook {
	nb := notebook.New("kafkalab", "Go (Kafka Lab)", "go")
	nb.Cells = []*notebook.Cell{
		{Type: notebook.Markdown, ID: "a", Source: "# title"},
		{Type: notebook.Code, ID: "b", Source: source, Metadata: map[string]any{"tags": []any{"parameters"}}},
		{Type: notebook.Code, ID: "c", Source: "fmt.Println(seed)"},
	}
	return nb
}

const defaults = "seed := 7\nname := \"a\"\nvar wait time.Duration = time.Second\nvar title string"

func TestParametersAreSetAfterTheirDefaults(t *testing.T) {
	nb := withParameters(defaults)
	for range 2 { // the second run replaces the cell of the first
		err := Inject(nb, []Parameter{{"seed", "-11"}, {"name", `x "y" = z`}, {"wait", "5 * time.Second"}, {"title", "7"}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(nb.Cells) != 4 || !Tagged(nb.Cells[2], "injected-parameters") {
		t.Fatalf("%d cells", len(nb.Cells))
	}
	want := "// Parameters of this run\nseed = -11\nname = \"x \\\"y\\\" = z\"\nwait = 5 * time.Second\ntitle = \"7\""
	if got := nb.Cells[2].Source; got != want {
		t.Errorf("injected\n%s\nwant\n%s", got, want)
	}
}

func TestBadParametersAreOneSentence(t *testing.T) {
	for _, c := range []struct {
		nb   *notebook.Notebook
		p    Parameter
		want string
	}{
		{withParameters(defaults), Parameter{"sead", "1"}, `no parameter "sead"; it has name, seed, title, wait`},
		{withParameters(defaults), Parameter{"seed", "1 +"}, "not a Go value"},
		{withParameters("seed := "), Parameter{"seed", "1"}, "not valid Go"},
		{notebook.New("k", "k", "go"), Parameter{"seed", "1"}, "takes no parameters"},
	} {
		if err := Inject(c.nb, []Parameter{c.p}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.p, err, c.want)
		}
	}
	for _, text := range []string{"seed", "1x=2", "=3", "a b=4"} {
		if _, err := ParseParameter(text); err == nil {
			t.Errorf("%q was taken for a parameter", text)
		}
	}
}
