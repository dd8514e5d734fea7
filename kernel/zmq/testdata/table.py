"""Every message type of the protocol, sent by libzmq with jupyter_client's signatures: table.py CONNECTION_FILE

Prints one line for each request: what came on iopub, and the reply. Stops at the first message whose
signature, parent header, channel or order is wrong.
"""

import json
import sys

import zmq
from jupyter_client.session import Session

info = json.load(open(sys.argv[1]))
session = Session(key=info["key"].encode(), signature_scheme="hmac-sha256")
context = zmq.Context()


def connect(kind, name):
    socket = context.socket(kind)
    socket.linger = 0
    if kind == zmq.DEALER:
        socket.identity = b"table"
    if kind == zmq.SUB:
        socket.subscribe(b"")
    if info["transport"] == "ipc":
        socket.connect(f"ipc://{info['ip']}-{info[name + '_port']}")
    else:
        socket.connect(f"tcp://{info['ip']}:{info[name + '_port']}")
    return socket


shell, control, stdin = (connect(zmq.DEALER, n) for n in ("shell", "control", "stdin"))
iopub, beat = connect(zmq.SUB, "iopub"), connect(zmq.REQ, "hb")


def read(socket, patience=10000):
    assert socket.poll(patience), "nothing came"
    identities, frames = session.feed_identities(socket.recv_multipart())
    message = session.deserialize(frames)  # checks the signature
    message["topics"] = identities
    return message


welcome = read(iopub)
assert welcome["msg_type"] == "iopub_welcome" and welcome["parent_header"] == {}, welcome
beat.send(b"alive?")
assert beat.poll(5000) and beat.recv() == b"alive?"
print("heartbeat, iopub_welcome: ok")


def ask(channel, msg_type, content, reply=True, answer=None, **header):
    """Sends one request and prints what it caused."""
    message = session.msg(msg_type, content)
    message["header"].update(header)
    socket = {"shell": shell, "control": control}[channel]
    session.send(socket, message, buffers=[b"\x00\xff"] if msg_type.startswith("comm_") else None)
    mine = json.loads(session.pack(message["header"]))
    seen, asked = [], ""
    while not seen or seen[-1] != "idle":
        if answer is not None and stdin.poll(0):
            question = read(stdin)
            assert question["msg_type"] == "input_request", question
            session.send(stdin, session.msg("input_reply", {"value": answer}, parent=question))
            answer, asked = None, " (input_request)"
        if not iopub.poll(50):
            continue
        m = read(iopub)
        parent = json.loads(session.pack(m["parent_header"]))
        if parent.get("msg_id") != mine["msg_id"]:
            continue  # of another client, or starting
        assert parent == mine, (parent, mine)
        assert len(m["topics"]) == 1, m["topics"]
        if m["msg_type"] == "status":
            seen.append(m["content"]["execution_state"])
        else:
            seen.append(m["msg_type"] + (f"+{len(m['buffers'])}" if m["buffers"] else ""))
    assert seen[0] == "busy" and seen.count("idle") == 1, seen
    line = f"{channel} {msg_type}: {' '.join(seen)}{asked}"
    content = None
    if reply:
        m = read(socket)
        assert json.loads(session.pack(m["parent_header"])) == mine, m["parent_header"]
        content = m["content"]
        line += f"; {m['msg_type']} {content['status']} {' '.join(sorted(set(content) - {'status'}))}"
    assert not socket.poll(20), "a second reply"
    print(line.rstrip())
    return content


def cell(code, **options):
    return {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": True,
            "stop_on_error": True, **options}


for channel in ("shell", "control"):
    ask(channel, "kernel_info_request", {})
ask("shell", "execute_request", cell("print a\neprint b\ndisplay d x\nupdate d y\nclear wait\nresult 1\npage p\nnext n"))
ask("shell", "execute_request", cell("fail E no", user_expressions={"a": "result 1"}))
ask("shell", "execute_request", cell("result 1", silent=True))
ask("shell", "execute_request", cell("ask name?"), answer="Ada")
ask("shell", "execute_request", cell("ask name?", allow_stdin=False))
ask("shell", "complete_request", {"code": "pri", "cursor_pos": 3})
ask("shell", "inspect_request", {"code": "print", "cursor_pos": 3, "detail_level": 1})
ask("shell", "is_complete_request", {"code": "print \\"})
ask("shell", "history_request", {"hist_access_type": "tail", "n": 3, "output": True, "raw": True})
ask("shell", "comm_info_request", {})
ask("shell", "connect_request", {})
ask("shell", "comm_open", {"comm_id": "c", "target_name": "echo", "data": {}}, reply=False)
ask("shell", "comm_msg", {"comm_id": "c", "data": {"n": 1}}, reply=False)
ask("shell", "comm_close", {"comm_id": "c", "data": {}}, reply=False)
ask("control", "interrupt_request", {})
ask("control", "usage_request", {})
sub = ask("control", "create_subshell_request", {})["subshell_id"]
ask("control", "list_subshell_request", {})
ask("shell", "execute_request", cell("result 2"), subshell_id=sub)
ask("control", "delete_subshell_request", {"subshell_id": sub})
ask("shell", "execute_request", cell("result 2"), subshell_id=sub)
ask("control", "debug_request", {"type": "request", "seq": 1, "command": "initialize"})
ask("shell", "no_such_request", {})

# Messages that must not be answered: a wrong signature, and one that was there before.
if info["key"]:
    forged = Session(key=b"another key", signature_scheme="hmac-sha256")
    forged.send(shell, forged.msg("kernel_info_request", {}))
    frames = [b"<IDS|MSG>", *session.serialize(session.msg("kernel_info_request", {}))[1:]]
    shell.send_multipart(frames)
    assert read(shell)["msg_type"] == "kernel_info_reply"
    shell.send_multipart(frames)
    assert not shell.poll(300), "a wrong signature or a replay was answered"
    print("wrong signature, replay: dropped")
while iopub.poll(50):
    iopub.recv_multipart()
ask("control", "shutdown_request", {"restart": False})
