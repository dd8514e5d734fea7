package lab

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkalab/install/notebook"
	"kafkalab/kernel"
	"kafkalab/kernel/goeval"
	"kafkalab/kernel/kerneltest"
)

func TestTheGeneratedSymbolsAreUpToDate(t *testing.T) {
	out, err := exec.Command("go", "run", "kafkalab/kernel/goeval/gensymbols", "-check", "-package", "lab", "-docs", "all",
		"-list", "packages.txt", "-out", "symbols.go", "-exports", "exports.zip").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func start(t *testing.T) *kerneltest.Client {
	t.Helper()
	language, err := NewLanguage(Options{})
	if err != nil {
		t.Fatal(err)
	}
	return kerneltest.Start(t, language, kernel.Options{})
}

func TestPropertiesAreProposedWithTheirHelp(t *testing.T) {
	all := properties()
	at := slices.IndexFunc(all, func(h goeval.HintText) bool { return h.Text == "min.insync.replicas" })
	if at < 0 || !strings.Contains(all[at].Doc, "topic") {
		t.Fatalf("min.insync.replicas is not proposed among %d", len(all))
	}
	for i := 1; i < len(all); i++ {
		if all[i-1].Text >= all[i].Text {
			t.Errorf("%q comes before %q", all[i-1].Text, all[i].Text)
		}
	}
}

func TestExportFindsTheNotebookFromItsFolder(t *testing.T) {
	dir := t.TempDir()
	nb := notebook.New("kafkalab", "Go (Kafka Lab)", "go")
	nb.Cells = []*notebook.Cell{{Type: notebook.Markdown, ID: "a", Source: "# Found"}}
	os.Mkdir(filepath.Join(dir, "deep"), 0o755)
	for _, name := range []string{"a lesson.ipynb", "deep/other.ipynb"} {
		if err := nb.Write(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for requested, name := range map[string]string{
		"a lesson.ipynb":               "a lesson.html",
		"courses/kafka/a lesson.ipynb": "a lesson.html", // the server's root lies above the kernel's folder
		"deep/other.ipynb":             "other.html",    // the kernel runs in the server's root
	} {
		reply, err := exportPage(dir, requested)
		if err != nil || reply.Status != "ok" || reply.Name != name || !strings.Contains(reply.HTML, "<title>Found</title>") {
			t.Errorf("%s: %v, %q %q", requested, err, reply.Status, reply.Name)
		}
	}
	os.WriteFile(filepath.Join(dir, "broken.ipynb"), []byte("{"), 0o644)
	os.WriteFile(filepath.Join(filepath.Dir(dir), "outside.ipynb"), []byte("{}"), 0o644)
	for requested, want := range map[string]string{
		"missing.ipynb": "was not found", "../outside.ipynb": "was not found", "notes.txt": "no notebook", "": "no notebook", "broken.ipynb": "broken.ipynb",
	} {
		if _, err := exportPage(dir, requested); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", requested, err, want)
		}
	}
}

func TestCellsKnowKafkaWithoutAnImport(t *testing.T) {
	c := start(t)
	ex := c.Execute("c := kafkasim.Page()\nc.RunFor(5 * time.Millisecond)\nlen(c.Partition(\"orders\", 0).ISR)")
	if ex.Status() != "ok" || ex.Result() != "2" {
		t.Errorf("%s", ex.Transcript())
	}
	ex = c.Execute(`charts.Cluster(c)`)
	results := append(ex.Of("execute_result"), ex.Of("display_data")...)
	if len(results) != 1 {
		t.Fatalf("a chart is shown %d times:\n%.3000s", len(results), ex.Transcript())
	}
	for _, mime := range []string{"application/vnd.kafkalab.chart+json", "image/png", "text/plain"} {
		if kerneltest.Field(results[0], "data", mime) == nil {
			t.Errorf("the chart's bundle lacks %s", mime)
		}
	}
	if kerneltest.Field(results[0], "metadata", "image/png", "width") == nil {
		t.Errorf("the chart's metadata lacks the picture's size: %v", kerneltest.Field(results[0], "metadata"))
	}
}

func TestACallersMistakeIsASentence(t *testing.T) {
	c := start(t)
	ex := c.Execute(`kafkasim.Page().NewProducer("p", kafkasim.Config{"ack": 1})`)
	if ex.Reply("ename") != "UsageError" || ex.Reply("evalue") != `kafkasim: producer "p": unknown property "ack" - did you mean "acks"?` {
		t.Errorf("%s", ex.Transcript())
	}
	for _, line := range ex.Reply("traceback").([]any) {
		if strings.Contains(line.(string), "kafkasim.go") || strings.Contains(line.(string), "goroutine") {
			t.Errorf("the traceback holds %q", line)
		}
	}
}

// A long simulation gives way to an interrupt within 100 ms, and the cluster lives on.
func TestAnInterruptReachesTheSimulator(t *testing.T) {
	c := start(t)
	c.Execute("c := kafkasim.Page()\np := c.NewProducer(\"p\", kafkasim.Config{\"acks\": \"all\"}).Every(time.Millisecond, \"orders\", \"user-1\")")
	for _, code := range []string{
		"c.RunFor(1000 * time.Hour)",
		"defer func() { recover() }()\nfor { c.RunFor(time.Hour) }",
		"kafkasim.Hunt{World: kafkasim.World{Seed: 7}, Seeds: 1_000_000, Scenario: func(c *kafkasim.Cluster) {\n\tc.CreateTopic(\"t\", 1, 3, nil)\n\tc.NewProducer(\"q\", kafkasim.Config{\"acks\": \"all\"}).Every(10*time.Millisecond, \"t\", \"k\")\n}, Check: func(c *kafkasim.Cluster) string { return \"\" }}.Run()",
	} {
		best := time.Hour
		for try := 0; try < 5 && best >= 100*time.Millisecond; try++ { // a busy machine may need another
			ex := c.AskExecute(code)
			time.Sleep(300 * time.Millisecond)
			begun := time.Now()
			c.Control("interrupt_request", map[string]any{})
			ex.Wait()
			best = min(best, time.Since(begun))
			if ex.Reply("ename") != "KeyboardInterrupt" {
				t.Fatalf("%s: %.2000s", code, ex.Transcript())
			}
		}
		if best >= 100*time.Millisecond {
			t.Errorf("%s stops after %v", code, best)
		}
		if after := c.Execute("c.RunFor(time.Millisecond)\nc.Now() > 0"); after.Result() != "true" {
			t.Errorf("%s: the cluster does not live on: %s", code, after.Transcript())
		}
	}
}

func TestCompletionKnowsKafka(t *testing.T) {
	c := start(t)
	for code, want := range map[string]string{
		"kafkasim.Wid":                    "Widget",
		`kafkasim.Config{"min.ins`:        "min.insync.replicas",
		"c := kafkasim.Page()\nc.NewProd": "NewProducer",
	} {
		reply := c.Request("complete_request", map[string]any{"code": code, "cursor_pos": len(code)})
		if !strings.Contains(reply.Transcript(), want) {
			t.Errorf("%q: %s", code, reply.Transcript())
		}
	}
	inspect := c.Request("inspect_request", map[string]any{"code": "kafkasim.Page", "cursor_pos": 13, "detail_level": 0})
	if inspect.Reply("found") != true {
		t.Errorf("%s", inspect.Transcript())
	}
}

// What Kafka Connect and the registry do are commands of clients, so that the script of their cluster, run as a cell, comes
// to the same state without them.
func TestAScriptRepeatsConnectAndRegistry(t *testing.T) {
	c := start(t)
	ex := c.Execute(`c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 3})
db := connect.NewDatabase()
db.Table("orders").Insert("a", "1").Insert("b", "2")
k := connect.New(c, db, nil)
k.StartWorker("w1")
k.Create("db", kafkasim.Config{"connector.class": "TableSource", "tables": "orders", "topic.prefix": "db-"})
k.Create("copy", kafkasim.Config{"connector.class": "TableSink", "topics": "db-orders", "table": "copy", "tasks.max": 2})
k.RunFor(15 * time.Second)
db.Table("orders").Insert("c", "3")
k.StartWorker("w2")
k.RunFor(15 * time.Second)
k.Worker("w1").Crash()
k.RunFor(5 * time.Second)
registry.New(c).Register("db-orders-value", "\"string\"")
before, script := c.Hash(), string(c.Script())`)
	if ex.Status() != "ok" {
		t.Fatal(ex.Transcript())
	}
	script := c.Execute("fmt.Print(script)").Text("stdout")
	if !strings.Contains(script, `"connect-offsets"`) || strings.Contains(script, "connect.New") {
		t.Fatalf("the script is no script of clients: %.500s", script)
	}
	if ex = c.Execute(script); ex.Status() != "ok" {
		t.Fatal(ex.Transcript())
	}
	if ex = c.Execute("c.Hash() == before && c.Hash() != 0"); ex.Result() != "true" {
		t.Errorf("the script comes to another state: %s", ex.Transcript())
	}
}
