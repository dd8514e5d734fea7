package author

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"kafkalab/install/kernelspec"
	"kafkalab/install/notebook"
)

// CheatSheet is the list of examples from which the cheat sheet is made.
type CheatSheet struct {
	Leave    []string `yaml:"leave"` // verbs without an example
	Sections []struct {
		Title    string `yaml:"title"`
		Package  string `yaml:"package"` // "" for kafkasim
		Examples []struct {
			Verb string `yaml:"verb"` // Cluster.CreateTopic, or a function's name
			Code string `yaml:"code"`
		} `yaml:"examples"`
	} `yaml:"sections"`
}

// ReadCheatSheet reads the examples.
func ReadCheatSheet(data []byte) (*CheatSheet, error) {
	s := &CheatSheet{}
	if err := yaml.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("cheat sheet: %w", err)
	}
	return s, nil
}

// Verb is an exported function or method, from the sources.
type Verb struct {
	Signature string // as it is called: CreateTopic(name string, …) *Topic
	Synopsis  string // the first sentence of its comment
}

// nouns are the types whose verbs learners call.
var nouns = []string{"Cluster", "Producer", "Consumer", "Broker", "Controller", "Delivery", "Group", "ShareConsumer", "ShareGroup", "Hunt"}

// Verbs reads what a package exports for cells, by name: functions, and the methods of the learner's nouns.
func Verbs(dir string) (map[string]Verb, error) {
	fset := token.NewFileSet()
	var files []*ast.File
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(fset, name, text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	p, err := doc.NewFromFiles(fset, files, "kafkalab/"+filepath.Base(dir))
	if err != nil {
		return nil, err
	}
	out := map[string]Verb{}
	add := func(name string, f *doc.Func) {
		out[name] = Verb{f.Name + signature(f.Decl), p.Synopsis(f.Doc)}
	}
	for _, f := range p.Funcs {
		add(f.Name, f)
	}
	for _, t := range p.Types {
		for _, f := range t.Funcs {
			add(f.Name, f)
		}
		if slices.Contains(nouns, t.Name) {
			for _, m := range t.Methods {
				add(t.Name+"."+m.Name, m)
			}
		}
	}
	return out, nil
}

// signature is the list of a function's parameters by name.
func signature(d *ast.FuncDecl) string {
	var names []string
	for _, p := range d.Type.Params.List {
		_, variadic := p.Type.(*ast.Ellipsis)
		for _, n := range p.Names {
			if variadic {
				names = append(names, n.Name+"…")
			} else {
				names = append(names, n.Name)
			}
		}
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// Notebook is the cheat sheet; verbs are the sources' by package.
func (s *CheatSheet) Notebook(verbs map[string]map[string]Verb) (*notebook.Notebook, error) {
	nb := notebook.New(kernelspec.DefaultName, kernelspec.DefaultDisplayName, "go")
	nb.Metadata["language_info"] = map[string]any{"name": "go", "file_extension": ".go", "mimetype": "text/x-go"}
	nb.Cells = append(nb.Cells, cell(notebook.Markdown, "title", "# Cheat sheet\n\nEvery verb with one example. Run the cells from top to bottom; each stands on those before."))
	for i, section := range s.Sections {
		pkg := section.Package
		if pkg == "" {
			pkg = "kafkasim"
		}
		nb.Cells = append(nb.Cells, cell(notebook.Markdown, fmt.Sprintf("section-%d", i+1), "## "+section.Title))
		for _, x := range section.Examples {
			v, ok := verbs[pkg][x.Verb]
			if !ok {
				return nil, fmt.Errorf("cheat sheet: %s has no verb %s", pkg, x.Verb)
			}
			id := strings.ToLower(strings.ReplaceAll(pkg+"-"+x.Verb, ".", "-"))
			nb.Cells = append(nb.Cells, cell(notebook.Markdown, id+"-text", fmt.Sprintf("`%s` %s", v.Signature, v.Synopsis)),
				cell(notebook.Code, id, strings.TrimRight(x.Code, "\n")))
		}
	}
	return nb, nil
}

// Missing lists the verbs of the learner's nouns that have no example.
func (s *CheatSheet) Missing(verbs map[string]Verb) []string {
	have := slices.Clone(s.Leave)
	for _, section := range s.Sections {
		for _, x := range section.Examples {
			have = append(have, x.Verb)
		}
	}
	var out []string
	for name := range verbs {
		if strings.Contains(name, ".") && !slices.Contains(have, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// BuildCheatSheet makes the cheat sheet from the examples and the sources beside a course's folder.
func BuildCheatSheet(course string) (*notebook.Notebook, *CheatSheet, map[string]map[string]Verb, error) {
	data, err := os.ReadFile(filepath.Join(course, "masters", "cheat-sheet", "cheat-sheet.yaml"))
	if err != nil {
		return nil, nil, nil, err
	}
	s, err := ReadCheatSheet(data)
	if err != nil {
		return nil, nil, nil, err
	}
	verbs := map[string]map[string]Verb{}
	for _, pkg := range []string{"kafkasim", "charts"} {
		if verbs[pkg], err = Verbs(filepath.Join(course, "..", pkg)); err != nil {
			return nil, nil, nil, err
		}
	}
	nb, err := s.Notebook(verbs)
	return nb, s, verbs, err
}
