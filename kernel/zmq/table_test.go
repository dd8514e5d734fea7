package zmq

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kafkalab/kernel"
	"kafkalab/kernel/wire"
)

const wantTable = `heartbeat, iopub_welcome: ok
shell kernel_info_request: busy idle; kernel_info_reply ok banner debugger help_links implementation implementation_version language_info protocol_version supported_features
control kernel_info_request: busy idle; kernel_info_reply ok banner debugger help_links implementation implementation_version language_info protocol_version supported_features
shell execute_request: busy execute_input stream stream display_data update_display_data clear_output execute_result idle; execute_reply ok execution_count payload user_expressions
shell execute_request: busy execute_input error idle; execute_reply error ename evalue execution_count payload traceback user_expressions
shell execute_request: busy idle; execute_reply ok execution_count payload user_expressions
shell execute_request: busy execute_input stream idle (input_request); execute_reply ok execution_count payload user_expressions
shell execute_request: busy execute_input error idle; execute_reply error ename evalue execution_count payload traceback user_expressions
shell complete_request: busy idle; complete_reply ok cursor_end cursor_start matches metadata
shell inspect_request: busy idle; inspect_reply ok data found metadata
shell is_complete_request: busy idle; is_complete_reply incomplete indent
shell history_request: busy idle; history_reply ok history
shell comm_info_request: busy idle; comm_info_reply ok comms
shell connect_request: busy idle; connect_reply ok control_port hb_port iopub_port shell_port stdin_port
shell comm_open: busy comm_msg idle
shell comm_msg: busy comm_msg+1 idle
shell comm_close: busy idle
control interrupt_request: busy idle; interrupt_reply ok
control usage_request: busy idle; usage_reply ok USAGE
control create_subshell_request: busy idle; create_subshell_reply ok subshell_id
control list_subshell_request: busy idle; list_subshell_reply ok subshell_id
shell execute_request: busy execute_input execute_result idle; execute_reply ok execution_count payload user_expressions
control delete_subshell_request: busy idle; delete_subshell_reply ok
shell execute_request: busy idle; execute_reply error ename evalue execution_count traceback
control debug_request: busy idle; debug_reply error ename evalue traceback
shell no_such_request: busy idle; no_such_reply error ename evalue traceback
SIGNED
control shutdown_request: busy shutdown_reply idle; shutdown_reply ok restart
`

// Every message type of the protocol from a real libzmq, over TCP and Unix sockets, signed and unsigned.
func TestEveryMessageTypeWithLibzmq(t *testing.T) {
	interpreter := python(t, "jupyter_client")
	for name, change := range map[string]func(*wire.Connection){
		"tcp":      func(*wire.Connection) {},
		"ipc":      func(c *wire.Connection) { overIPC(t, c, "ipc") },
		"unsigned": func(c *wire.Connection) { c.Key = "" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, func(c *wire.Connection, _ *Options) { change(c) })
			r.k.Comms().Register("echo", func(c *kernel.Comm, _ kernel.CommMessage) error {
				c.OnMessage = func(m kernel.CommMessage) { _ = c.Send(map[string]any{"heard": m.Data}, m.Buffers...) }
				return c.Send(nil)
			})
			raw, err := json.Marshal(r.Connection())
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "kernel.json")
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, interpreter, "testdata/table.py", path)
			stderr := &lockedBuffer{}
			cmd.Stderr = stderr
			out, err := cmd.Output()
			if err != nil {
				t.Errorf("%v\n%s", err, stderr)
			}
			if got, want := tidy(string(out)), tidied(name); got != want {
				t.Errorf("libzmq saw\n%s\nwant\n%s\nkernel's log:\n%s", got, want, r.log)
			}
		})
	}
}

// tidied is the table as a kind of connection has it.
func tidied(name string) string {
	if name == "unsigned" {
		return strings.Replace(wantTable, "SIGNED\n", "", 1)
	}
	return strings.Replace(wantTable, "SIGNED", "wrong signature, replay: dropped", 1)
}

// tidy leaves out what one system measures and another does not.
func tidy(out string) string {
	lines := strings.Split(strings.ReplaceAll(out, "\r", ""), "\n")
	for i, l := range lines {
		if before, fields, found := strings.Cut(l, "usage_reply ok "); found && strings.Contains(fields, "kernel_memory") {
			lines[i] = before + "usage_reply ok USAGE"
		}
	}
	return strings.Join(lines, "\n")
}
