package kernel

// route says who serves a message type and in which lane.
type route struct {
	lane   *lane
	serve  func(*request) any   // the reply's content; nil if the type has no reply
	choose func(*request) *lane // overrides lane when set
}

// table is every message type of the protocol that this kernel serves (message spec, protocol 5.5).
// What is not here is answered by unknown; input_reply is taken by Handle.
func (k *Kernel) table() map[string]route {
	return map[string]route{
		"execute_request":     {choose: func(r *request) *lane { return r.shell.cells }, serve: k.execute},
		"kernel_info_request": {lane: k.tools, serve: k.kernelInfo},
		"connect_request":     {lane: k.tools, serve: k.connect},
		"complete_request":    {lane: k.tools, serve: k.complete},
		"inspect_request":     {lane: k.tools, serve: k.inspect},
		"is_complete_request": {lane: k.tools, serve: k.isComplete},
		"history_request":     {lane: k.tools, serve: k.pastCells},
		"comm_info_request":   {lane: k.tools, serve: k.comms.info},
		"comm_open":           {choose: k.comms.lane, serve: k.comms.opened},
		"comm_msg":            {choose: k.comms.lane, serve: k.comms.message},
		"comm_close":          {choose: k.comms.lane, serve: k.comms.closed},
		"interrupt_request":   {lane: k.control, serve: k.interruptRequest},
		"shutdown_request":    {lane: k.control, serve: k.shutdown},
		"usage_request":       {lane: k.control, serve: k.usage},

		"create_subshell_request": {lane: k.control, serve: k.createSubshell},
		"delete_subshell_request": {lane: k.control, serve: k.deleteSubshell},
		"list_subshell_request":   {lane: k.control, serve: k.listSubshells},
	}
}
