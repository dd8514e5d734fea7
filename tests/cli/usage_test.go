package cli

import (
	"net"
	"strconv"
	"testing"
)

func TestMistypedCommandLines(t *testing.T) {
	p := newPerson(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"instal"}, "install"},
		{[]string{"lesson.ipynb"}, "lesson.ipynb"},
		{[]string{"install", "--nmae", "x"}, "--nmae"},
		{[]string{"install", "here"}, `"here" is one argument too many`},
		{[]string{"install", "--user", "--prefix", "x"}, "prefix"},
		{[]string{"install", "--prefix", ""}, "--prefix needs a folder"},
		{[]string{"run"}, "the notebook is missing"},
		{[]string{"run", "a.ipynb", "b.ipynb"}, "one argument too many"},
		{[]string{"run", "a.ipynb", "--timeout", "soon"}, "timeout"},
		{[]string{"run", "a.ipynb", "--timeout", "-1s"}, "not negative"},
		{[]string{"run", "a.ipynb", "-o", "x", "--inplace"}, "inplace"},
		{[]string{"export"}, "the notebook is missing"},
		{[]string{"kernel"}, "the connection file is missing"},
		{[]string{"lab", "course"}, "go after --"},
		{[]string{"lab", "--port", "70000"}, "no port"},
	} {
		p.types(c.args...).exits(2).complains(c.want)
	}
}

func TestVersionAndHelp(t *testing.T) {
	p := newPerson(t)
	p.types("version").exits(0).prints("kafkalab ", "go1.")
	help := p.types("--help").exits(0)
	help.prints("install", "uninstall", "lab", "run", "export", "doctor", "kernel", "version")
	p.types().exits(0).prints("kafkalab lab")
}

func TestLabWithATakenPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := newPerson(t)
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	p.types("lab", "--port", port).exits(1).complains("port "+port+" is taken", "--port")
	if exists(p.userData()) {
		t.Error("a lab that cannot start installed something first")
	}
}
