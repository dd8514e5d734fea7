package zmq

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kafkalab/kernel/wire"
)

// A real frontend: jupyter_client on libzmq, as JupyterLab's server and nbclient use it. The script
// prints one line per thing that it saw.
const script = `
import sys, time
from jupyter_client import BlockingKernelClient
kc = BlockingKernelClient(connection_file=sys.argv[1])
kc.load_connection_file()
kc.start_channels()
first = kc.get_iopub_msg(timeout=10)
print("first", first["msg_type"], repr(first["content"].get("subscription")))
kc.wait_for_ready(timeout=20)
print("ready", kc.is_alive())
def flush():
    last = None
    while True:
        try:
            last = kc.get_iopub_msg(timeout=0.5)
        except Exception:
            return last
def run(code, **options):
    msg_id = kc.execute(code, **options)
    reply = kc.get_shell_msg(timeout=10)
    seen = []
    while True:
        msg = kc.get_iopub_msg(timeout=10)
        assert msg["parent_header"]["msg_id"] == msg_id, msg
        seen.append(msg["msg_type"])
        if msg["msg_type"] == "status" and msg["content"]["execution_state"] == "idle":
            return reply["content"], seen
print("cell", *(lambda r, s: (r["status"], r["execution_count"], *s))(*run("print hello\nresult 1", allow_stdin=False)))
print("error", *(lambda r, s: (r["status"], r["ename"], *s))(*run("fail ValueError no")))
print("history", kc.history(hist_access_type="tail", n=1, reply=True, timeout=10)["content"]["history"])
print("complete", kc.complete("pri", reply=True, timeout=10)["content"]["matches"])
print("inspect", kc.inspect("print", reply=True, timeout=10)["content"]["found"])
kc.is_complete("print!")
print("is_complete", kc.get_shell_msg(timeout=10)["content"]["status"])
print("comm_info", kc.comm_info(reply=True, timeout=10)["content"]["comms"])
flush()
print("unicode", run("result é😀", store_history=False)[0]["execution_count"])
msg_id = kc.execute("ask name?", allow_stdin=True)
question = kc.get_stdin_msg(timeout=10)
kc.input("Ada")
print("input", question["content"]["prompt"], kc.get_shell_msg(timeout=10)["content"]["status"])
kc.execute("loop")
queued = kc.execute("print never")
time.sleep(0.2)
interrupt = kc.session.msg("interrupt_request", {})
kc.control_channel.send(interrupt)
print("interrupt", kc.get_control_msg(timeout=10)["content"], kc.get_shell_msg(timeout=10)["content"]["ename"], kc.get_shell_msg(timeout=10)["content"]["status"])
time.sleep(1.5)
print("beating", kc.hb_channel.is_beating())
flush()
kc.shutdown()
print("shutdown", kc.get_control_msg(timeout=10)["content"])
last = flush()
print("last", last["msg_type"], last["content"])
`

const wantScript = `first iopub_welcome ''
ready True
cell ok 1 status execute_input stream execute_result status
error error ValueError status execute_input error status
history [[1, 2, 'fail ValueError no']]
complete ['print']
inspect True
is_complete invalid
comm_info {}
unicode 2
input name? ok
interrupt {'status': 'ok'} KeyboardInterrupt aborted
beating True
shutdown {'restart': False, 'status': 'ok'}
last status {'execution_state': 'idle'}
`

// python finds an interpreter that has a module; in CI it has to be there.
func python(t *testing.T, module string) string {
	t.Helper()
	for _, name := range []string{os.Getenv("KAFKALAB_PYTHON"), "python3", "python"} {
		if name == "" {
			continue
		}
		if exec.Command(name, "-c", "import "+module).Run() == nil {
			return name
		}
	}
	message := fmt.Sprintf("no Python with %s (set KAFKALAB_PYTHON to one): the test with real libzmq is left out", module)
	if os.Getenv("CI") != "" {
		t.Fatal(message)
	}
	t.Skip(message)
	return ""
}

func TestJupyterClient(t *testing.T) {
	interpreter := python(t, "jupyter_client")
	for _, transport := range []string{"tcp", "ipc"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			r := start(t, func(c *wire.Connection, _ *Options) { overIPC(t, c, transport) })
			info := r.Connection()
			info.SignatureScheme = wire.SignatureScheme
			raw, err := json.Marshal(info)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "kernel.json")
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
			defer cancel()
			cmd := exec.CommandContext(ctx, interpreter, "-c", script, path)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Errorf("%v\n%s", err, stderr.String())
			}
			if got := strings.ReplaceAll(string(out), "\r", ""); got != wantScript {
				t.Errorf("jupyter_client saw\n%s\nwant\n%s\nkernel's log:\n%s", got, wantScript, r.log)
			}
		})
	}
}

func overIPC(t *testing.T, c *wire.Connection, transport string) {
	if transport != "ipc" {
		return
	}
	dir, err := os.MkdirTemp("", "klab")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	*c = wire.Connection{Transport: "ipc", IP: filepath.Join(dir, "k"), Key: testKey, ShellPort: 1, IOPubPort: 2, StdinPort: 3, ControlPort: 4, HBPort: 5}
}
