package headless

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"kafkalab/install/notebook"
)

// The tags are papermill's: a cell with the defaults, and after it the cell with the values of this run.
const (
	parametersTag = "parameters"
	injectedTag   = "injected-parameters"
)

// Parameter is one name=value of the command line.
type Parameter struct{ Name, Value string }

// ParseParameter reads name=value.
func ParseParameter(text string) (Parameter, error) {
	name, value, found := strings.Cut(text, "=")
	if !found || !token.IsIdentifier(name) {
		return Parameter{}, fmt.Errorf("%q is no parameter: it must read name=value, with a Go name", text)
	}
	return Parameter{name, value}, nil
}

// Inject puts a cell that sets the parameters after the notebook's cell tagged "parameters", in place of
// one that an earlier run put there. Only names that the notebook declares can be set: anything else would
// be a misspelling without effect. A value is Go source, except that a parameter whose default is a string
// takes the text as it is.
func Inject(nb *notebook.Notebook, parameters []Parameter) error {
	if len(parameters) == 0 {
		return nil
	}
	at := slices.IndexFunc(nb.Cells, func(c *notebook.Cell) bool { return c.Type == notebook.Code && Tagged(c, parametersTag) })
	if at < 0 {
		return fmt.Errorf("the notebook takes no parameters: none of its code cells is tagged %q", parametersTag)
	}
	declared, err := declarations(nb.Cells[at].Source)
	if err != nil {
		return fmt.Errorf("cell %d, tagged %q, is not valid Go: %w", at+1, parametersTag, err)
	}
	var source strings.Builder
	source.WriteString("// Parameters of this run\n")
	for _, p := range parameters {
		fallback, known := declared[p.Name]
		if !known {
			return fmt.Errorf("the notebook has no parameter %q; it has %s", p.Name, nameList(declared))
		}
		value, err := goSource(p, fallback)
		if err != nil {
			return err
		}
		fmt.Fprintf(&source, "%s = %s\n", p.Name, value)
	}
	cell := &notebook.Cell{
		Type: notebook.Code, ID: injectedTag, Source: strings.TrimSuffix(source.String(), "\n"),
		Metadata: map[string]any{"tags": []any{injectedTag}},
	}
	nb.Cells = slices.DeleteFunc(nb.Cells, func(c *notebook.Cell) bool { return Tagged(c, injectedTag) })
	at = slices.IndexFunc(nb.Cells, func(c *notebook.Cell) bool { return Tagged(c, parametersTag) })
	nb.Cells = slices.Insert(nb.Cells, at+1, cell)
	return nil
}

// Tagged tells whether a cell carries a tag.
func Tagged(c *notebook.Cell, tag string) bool {
	tags, _ := c.Metadata["tags"].([]any)
	return slices.Contains(tags, any(tag))
}

// declarations finds the variables that a cell declares at its top level, with their default values.
func declarations(cell string) (map[string]ast.Expr, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p; func _() {\n"+cell+"\n}", 0)
	if err != nil {
		return nil, err
	}
	found := map[string]ast.Expr{}
	for _, stmt := range file.Decls[0].(*ast.FuncDecl).Body.List {
		switch s := stmt.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE && len(s.Lhs) == len(s.Rhs) {
				for i, left := range s.Lhs {
					found[left.(*ast.Ident).Name] = s.Rhs[i]
				}
			}
		case *ast.DeclStmt:
			variables(found, s)
		}
	}
	return found, nil
}

func variables(found map[string]ast.Expr, s *ast.DeclStmt) {
	decl, ok := s.Decl.(*ast.GenDecl)
	if !ok || decl.Tok != token.VAR {
		return
	}
	for _, spec := range decl.Specs {
		v := spec.(*ast.ValueSpec)
		for i, name := range v.Names {
			switch {
			case i < len(v.Values):
				found[name.Name] = v.Values[i]
			case isString(v.Type):
				found[name.Name] = &ast.BasicLit{Kind: token.STRING}
			default:
				found[name.Name] = nil
			}
		}
	}
}

func isString(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "string"
}

func goSource(p Parameter, fallback ast.Expr) (string, error) {
	if lit, ok := fallback.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		return strconv.Quote(p.Value), nil
	}
	if _, err := parser.ParseExpr(p.Value); err != nil {
		return "", fmt.Errorf("parameter %s: %q is not a Go value (its default is not a string, so it must be one)", p.Name, p.Value)
	}
	return p.Value, nil
}

func nameList(declared map[string]ast.Expr) string {
	if len(declared) == 0 {
		return "none"
	}
	var names []string
	for name := range declared {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
