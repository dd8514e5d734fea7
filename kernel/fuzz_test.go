package kernel_test

import (
	"encoding/json"
	"testing"

	"kafkalab/kernel"
	"kafkalab/kernel/kerneltest"
	"kafkalab/kernel/wire"
)

// Whatever a request contains, it is answered, and a cell runs afterwards. The client checks every
// message that comes back.
func FuzzContents(f *testing.F) {
	types := []string{"kernel_info_request", "connect_request", "complete_request", "inspect_request", "is_complete_request",
		"history_request", "comm_info_request", "comm_open", "comm_msg", "comm_close", "interrupt_request", "execute_request", "x_request"}
	for i := range types {
		f.Add(uint8(i), `{}`)
		f.Add(uint8(i), `{"code":"é😀 pr","cursor_pos":-3,"detail_level":7,"comm_id":"a","target_name":"kafkalab","data":{}}`)
	}
	f.Add(uint8(5), `{"hist_access_type":"search","pattern":"[z-a]","n":-1,"unique":true}`)
	f.Add(uint8(5), `{"hist_access_type":"range","session":-9,"start":5,"stop":1}`)
	f.Add(uint8(11), `{"code":"print x","user_expressions":{"a":"result 1","b":"?"},"silent":true}`)
	f.Fuzz(func(t *testing.T, which uint8, content string) {
		var object map[string]any
		if json.Unmarshal([]byte(content), &object) != nil || object == nil {
			return // the wire lets only objects through
		}
		if code, _ := object["code"].(string); code != "" && which%uint8(len(types)) == 11 {
			object["code"] = "print x\n" // Echo's own commands may take their time
		}
		c := kerneltest.Start(t, &kerneltest.Echo{}, kernel.Options{})
		c.Ask(wire.Shell, types[int(which)%len(types)], object).Wait()
		if got := c.Execute("print alive").Status(); got != "ok" && got != "aborted" {
			t.Errorf("a cell afterwards is %s", got)
		}
	})
}
