package goeval

import (
	"fmt"
	"go/types"
	"strings"
	"testing"

	"kafkalab/kernel"
	"kafkalab/kernel/goeval/stdlib"
)

// names lists the exported names of a package that are not generic: what cells must be able to say.
func names(p *types.Package) (values, types_, generic []string) {
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		switch o := o.(type) {
		case *types.Func:
			if o.Exported() && o.Signature().TypeParams() != nil {
				generic = append(generic, name)
				continue
			}
		case *types.TypeName:
			if named, ok := o.Type().(interface{ TypeParams() *types.TypeParamList }); o.Exported() && ok && named.TypeParams() != nil {
				generic = append(generic, name)
			} else if o.Exported() && !constraint(o.Type()) {
				types_ = append(types_, name)
			}
			continue
		}
		if o.Exported() {
			values = append(values, name)
		}
	}
	return values, types_, generic
}

func constraint(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && !i.IsMethodSet()
}

// TestEveryNameOfThePackages says every exported name of every standard package that cells can import: a
// function or variable is used as a value, a type declares a variable.
func TestEveryNameOfThePackages(t *testing.T) {
	s := newSession(t)
	said := 0
	for path := range stdlib.Symbols() {
		p, err := s.imp.Import(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		values, kinds, _ := names(p)
		try := func(code string) kernel.Outcome { said++; return s.run(fmt.Sprintf("import the %q\n%s", path, code)) }
		var lines []string
		for _, n := range values {
			if withheld[path+"."+n] || path == "flag" && n == "ExitOnError" {
				continue
			}
			if c, ok := p.Scope().Lookup(n).(*types.Const); ok && c.Val().Kind().String() == "Int" && strings.HasPrefix(c.Type().String(), "untyped") {
				lines = append(lines, "{ const c = the."+n+" }")
				continue
			}
			lines = append(lines, "_ = the."+n)
		}
		for _, n := range kinds {
			lines = append(lines, "{ var x the."+n+"; _ = x }")
		}
		said += len(lines)
		if o := try(strings.Join(lines, "\n")); o.Failure == nil {
			continue
		}
		for _, line := range lines {
			if o := try(line); o.Failure != nil {
				t.Errorf("%s: %s: %s", path, line, o.Failure.Value)
			}
		}
	}
	t.Logf("%d names", said)
}
