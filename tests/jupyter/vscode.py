"""Speaks to the installed kernel as VS Code's Jupyter extension does without a server: vscode.py KERNEL_JSON FOLDER

What it does differently from a Jupyter server (vscode-jupyter, src/kernels/raw): it reads kernel.json
itself, probes the ports by connecting and hanging up, has one routing id for three DEALERs and no
heartbeat, sends interrupt_request on SHELL, and ends a kernel with SIGTERM, never with shutdown_request.
"""

import hashlib
import hmac
import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from datetime import datetime, timezone

import zmq

# The fields whose absence VS Code mends and JupyterLab's validator would refuse.
IOPUB = {
    "stream": {"name": str, "text": str},
    "display_data": {"data": dict, "metadata": dict},
    "update_display_data": {"data": dict, "metadata": dict, "transient": dict},
    "execute_input": {"code": str, "execution_count": int},
    "execute_result": {"execution_count": int, "data": dict, "metadata": dict},
    "error": {"ename": str, "evalue": str, "traceback": list},
    "status": {"execution_state": str},
    "clear_output": {"wait": bool},
    "iopub_welcome": {"subscription": str},
}
LIMIT = 30

with open(sys.argv[1], encoding="utf-8") as file:
    spec = json.load(file)
if spec.get("interrupt_mode") != "message" or spec["language"] != "go":
    sys.exit(f"the kernelspec is {spec}")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


key = str(uuid.uuid4()).encode()
connection = {name + "_port": free_port() for name in ("shell", "iopub", "stdin", "control", "hb")}
connection.update(ip="127.0.0.1", transport="tcp", key=key.decode(), signature_scheme="hmac-sha256", version=0, kernel_name="kafkalab")
path = os.path.join(sys.argv[2], "kernel v2-a space.json")
with open(path, "w", encoding="utf-8") as file:
    json.dump(connection, file)
os.chmod(path, 0o600)

begun = time.time()
kernel = subprocess.Popen([a.replace("{connection_file}", path) for a in spec["argv"]], cwd=sys.argv[2],
                          env={**os.environ, **spec.get("env", {})}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def used(port):
    """Connects until somebody listens, and hangs up without a word."""
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if time.time() - begun > LIMIT or kernel.poll() is not None:
                sys.exit(f"nobody listens: {kernel.poll()}")
            time.sleep(0.02)


used(connection["shell_port"])
used(connection["iopub_port"])

context = zmq.Context()
routing = str(uuid.uuid4()).encode()
sockets = {}
for name in ("iopub", "shell", "control", "stdin"):
    s = context.socket(zmq.SUB if name == "iopub" else zmq.DEALER)
    s.linger = 0
    if name == "iopub":
        s.subscribe(b"")
    else:
        s.routing_id = routing
    s.connect(f"tcp://127.0.0.1:{connection[name + '_port']}")
    sockets[name] = s
poller = zmq.Poller()
for s in sockets.values():
    poller.register(s, zmq.POLLIN)
client = str(uuid.uuid4())


def send(channel, msg_type, content, parent=None, metadata=None):
    header = {"msg_id": str(uuid.uuid4()), "msg_type": msg_type, "session": client, "username": "", "version": "5.2",
              "date": datetime.now(timezone.utc).isoformat()}
    parts = [json.dumps(p).encode() for p in (header, parent or {}, metadata or {}, content)]
    sign = hmac.new(key, b"".join(parts), hashlib.sha256).hexdigest().encode()
    sockets[channel].send_multipart([b"<IDS|MSG>", sign, *parts])
    return header["msg_id"]


def receive():
    """The next message of any channel: (channel, type, parent's id, content)."""
    ready = dict(poller.poll(LIMIT * 1000))
    if not ready:
        sys.exit(f"nothing comes within {LIMIT} s")
    for name, s in sockets.items():
        if s in ready:
            frames = s.recv_multipart()
            at = frames.index(b"<IDS|MSG>")
            sign, *parts = frames[at + 1:at + 6]
            if hmac.new(key, b"".join(parts), hashlib.sha256).hexdigest().encode() != sign:
                sys.exit(f"a wrong signature on {name}")
            header, parent, _, content = map(json.loads, parts)
            if name == "iopub":
                for field, kind in IOPUB[header["msg_type"]].items():
                    if not isinstance(content.get(field), kind):
                        sys.exit(f"{header['msg_type']} without {field}: {content}")
            return name, header, parent.get("msg_id"), content


def until_idle(msg_id, reply=True, between=None):
    """Everything that belongs to a request, by type; between is called with each."""
    seen, replied, idle = {}, not reply, False
    while not (replied and idle):
        channel, header, parent, content = receive()
        if parent != msg_id:
            others.append((channel, header["msg_type"], parent, content))
            continue
        seen.setdefault(header["msg_type"], []).append(content)
        replied = replied or channel == "shell" and header["msg_type"].endswith("_reply")
        idle = idle or content.get("execution_state") == "idle"
        if between:
            between(channel, header, content)
    return seen


def execute(code, **more):
    between = more.pop("between", None)
    return until_idle(send("shell", "execute_request", {
        "code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": True, "stop_on_error": True, **more,
    }, metadata={"cellId": "vscode-notebook-cell:/a.ipynb#W0"}), between=between)


others = []
info = until_idle(send("shell", "kernel_info_request", {}))["kernel_info_reply"][0]
language = info["language_info"]
print("kernel_info", info["status"], language["name"], language["mimetype"], language["file_extension"])
print("1 + 1 is", execute("1 + 1")["execute_result"][0]["data"]["text/plain"])
print("printed", execute('fmt.Println("é")')["stream"][0]["text"].strip())
print("a wrong cell", execute("x := )")["execute_reply"][0]["status"])
print("display", sorted(execute("lab.Display(charts.Cluster(kafkasim.Widget()))")["display_data"][0]["data"]))


def answer(channel, header, content):
    if header["msg_type"] == "input_request":
        send("stdin", "input_reply", {"status": "ok", "value": "ada"}, parent=header)


print("asked", execute('lab.Input("who? ")', between=answer)["execute_result"][0]["data"]["text/plain"])

interrupted = []


def interrupt(channel, header, content):
    if header["msg_type"] == "stream" and not interrupted:
        interrupted.append((send("shell", "interrupt_request", {}), time.time()))


stopped = execute('kept := 7\nfor { fmt.Print("."); time.Sleep(10 * time.Millisecond) }', between=interrupt)
took = time.time() - interrupted[0][1]
print("stopped with", stopped["error"][0]["ename"], stopped["execute_reply"][0]["status"], "soon" if took < 1 else f"after {took:.1f} s")
replies = [o for o in others if o[2] == interrupted[0][0] and o[1] == "interrupt_reply"]
print("interrupt", [(channel, content["status"]) for channel, _, _, content in replies] or
      until_idle(interrupted[0][0])["interrupt_reply"][0]["status"])
print("kept is", execute("kept")["execute_result"][0]["data"]["text/plain"])

os.kill(kernel.pid, signal.SIGTERM)
begun = time.time()
out, err = kernel.communicate(timeout=LIMIT)
print("SIGTERM ends it", "soon" if time.time() - begun < 2 else f"after {time.time() - begun:.1f} s")
print("it said", out + err)
