package simtest

import (
	"reflect"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	a := words(`send checkout orders user-1 "order = #1" as=first partition=2 note="two words" -`)
	if want := []string{"send", "checkout", "orders", "user-1", "order = #1", "-"}; !reflect.DeepEqual(a.plain, want) {
		t.Errorf("plain words %q, want %q", a.plain, want)
	}
	if want := [][2]string{{"as", "first"}, {"partition", "2"}, {"note", "two words"}}; !reflect.DeepEqual(a.pairs, want) {
		t.Errorf("pairs %q, want %q", a.pairs, want)
	}
	if v, ok := a.take("partition"); !ok || v != "2" || len(a.pairs) != 2 {
		t.Errorf("take: %q %v, left %q", v, ok, a.pairs)
	}
}

// A line that means nothing is answered with what would have.
func TestBadLines(t *testing.T) {
	for _, x := range []struct{ cmd, args, input, want string }{
		{"run", "for=1s", "", "a story begins with a block `do`"},
		{"do", "", "send p t k v", "the first line of a story is cluster, page or widget"},
		{"do", "", "cluster\nfly 1", `there is no verb "fly"`},
		{"do", "", "cluster brokers=many", "brokers=many is not a number"},
		{"do", "", "cluster\ncrash one", `"one" is not a number`},
		{"do", "", "page\nevery p soon orders", `"soon" is not a time`},
		{"do", "", "page\ndrop nothing", `no message on the wire has "nothing"`},
		{"do", "", "page\npoll x 1s", `kafkasim: Consumer("x"): there is no consumer "x"; make it with NewConsumer`},
	} {
		_, err := (&Env{}).Block(x.cmd, words(x.args), x.input)
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s %s: %v, want %q", x.cmd, x.input, err, x.want)
		}
	}
	page := &Env{}
	if _, err := page.Block("do", Args{}, "page"); err != nil {
		t.Fatal(err)
	}
	for cmd, want := range map[string]string{"run until=never": "want decided, settled", "show": "show what?", "show moon": "is not a partition",
		"steps x": "is not a number", "fork use=x": `no cluster was kept as "x"`, "dance": `there is no block command "dance"`, "table topic=orders": "is not a partition"} {
		name, args, _ := strings.Cut(cmd, " ")
		if _, err := page.Block(name, words(args), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", cmd, err, want)
		}
	}
}
