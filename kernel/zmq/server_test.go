package zmq

import (
	"testing"
)

func TestACellOverTCP(t *testing.T) {
	r := start(t)
	c := r.frontend(t, "alice")
	ex := c.Execute("print hello\nresult 42")
	if ex.Status() != "ok" || ex.Text("stdout") != "hello\n" || ex.Result() != "42" {
		t.Errorf("got\n%s", ex.Transcript())
	}
}
