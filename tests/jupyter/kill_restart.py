"""Kills a kernel under a running Jupyter server: kill_restart.py URL TOKEN KERNEL

The server must notice, start the kernel again and say so; then a cell runs. Prints what happened.
"""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
import uuid
from datetime import datetime, timezone

import websocket

url, token, name = sys.argv[1:]


def api(method, path, body=None):
    request = urllib.request.Request(url + path, method=method, data=json.dumps(body).encode() if body else None,
                                     headers={"Authorization": "token " + token, "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as reply:
        text = reply.read()
    return json.loads(text) if text else None


kernel = api("POST", "/api/kernels", {"name": name})["id"]
socket = websocket.create_connection(
    url.replace("http", "ws") + f"/api/kernels/{kernel}/channels?token={token}", timeout=60)


def send(msg_type, content):
    """Sends a request on shell and returns its id."""
    msg_id = uuid.uuid4().hex
    socket.send(json.dumps({
        "channel": "shell", "parent_header": {}, "metadata": {}, "buffers": [], "content": content,
        "header": {"msg_id": msg_id, "session": "kill", "username": "test", "date": datetime.now(timezone.utc).isoformat(),
                   "msg_type": msg_type, "version": "5.3"}}))
    return msg_id


def idle(message, ids):
    return (message["msg_type"] == "status" and message["parent_header"].get("msg_id") in ids
            and message["content"]["execution_state"] == "idle")


def ready():
    """Asks kernel_info until an answer comes through on iopub, as frontends do after a restart."""
    asked = set()
    socket.settimeout(0.5)
    for _ in range(120):
        asked.add(send("kernel_info_request", {}))
        try:
            while not idle(json.loads(socket.recv()), asked):
                pass
            break
        except websocket.WebSocketTimeoutException:
            pass
    socket.settimeout(60)


def execute(code):
    """Runs a cell and returns what it printed."""
    msg_id = send("execute_request", {"code": code, "silent": False, "store_history": True, "user_expressions": {},
                                      "allow_stdin": False, "stop_on_error": True})
    text = ""
    while True:
        m = json.loads(socket.recv())
        if m["parent_header"].get("msg_id") != msg_id:
            continue
        if m["msg_type"] == "stream":
            text += m["content"]["text"]
        elif m["msg_type"] in ("execute_result", "error"):
            text += m["content"].get("ename") or m["content"]["data"]["text/plain"]
        if idle(m, {msg_id}):
            return text


def processes():
    """The numbers of the kernel's processes: those that were given its connection file."""
    listing = subprocess.run(["ps", "-axo", "pid=,args="], capture_output=True, text=True, check=True).stdout
    return [int(line.split()[0]) for line in listing.splitlines() if f"kernel-{kernel}.json" in line]


ready()
print("before", execute("x := 41\nx + 1"))
(victim,) = processes()
begun = time.time()
os.kill(victim, signal.SIGKILL)
states = []
while not states or states[-1] not in ("restarting", "dead"):
    m = json.loads(socket.recv())
    if m["msg_type"] == "status" and not m["parent_header"].get("msg_id"):
        states.append(m["content"]["execution_state"])
print("after the kill", states[-1])
ready()
print("x is", execute("x"))
print("a cell says", execute("6 * 7"))
print(f"it took {time.time() - begun:.1f} s", file=sys.stderr)
api("DELETE", f"/api/kernels/{kernel}")
print("left", processes())
