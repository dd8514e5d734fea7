"""Drives `jupyter console` with the kernel in a terminal of its own: console.py PYTHON

Every expectation has a time limit; the last line says that all of it works.
"""

import os
import re
import sys

import pexpect

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-B]|\x1b[=>]|\r")


class Console:
    """A console on a pseudo-terminal."""

    def __init__(self, *flags):
        arguments = ["-m", "jupyter_console", "--kernel", "kafkalab", "--ZMQTerminalInteractiveShell.kernel_timeout=60", *flags]
        environment = dict(os.environ, TERM="xterm", PROMPT_TOOLKIT_NO_CPR="1")
        self.process = pexpect.spawn(sys.argv[1], arguments, env=environment, encoding="utf-8", timeout=60, dimensions=(50, 160))
        self.seen = ""

    def expect(self, text):
        """Waits until the terminal shows the text, whatever colours it has."""
        while text not in ESCAPES.sub("", self.seen):
            try:
                self.seen += self.process.read_nonblocking(4096, timeout=60)
            except (pexpect.TIMEOUT, pexpect.EOF) as err:
                sys.exit(f"{text!r} does not come ({type(err).__name__}); the terminal shows\n{ESCAPES.sub('', self.seen)[-3000:]}")
        self.seen = ESCAPES.sub("", self.seen).split(text, 1)[1]

    def enter(self, line, key="\r"):
        self.process.send(line + key)

    def end(self):
        self.process.sendeof()
        self.expect("Do you really want to exit")
        self.enter("y", "\n")
        self.process.expect(pexpect.EOF)
        self.process.close()
        if self.process.exitstatus != 0:
            sys.exit(f"the console ends with {self.process.exitstatus}")


full = Console()
full.expect("Kafka Lab: Go with a deterministic Kafka inside")
full.expect("In [1]:")
full.enter("6 * 7")
full.expect("Out[1]: 42")
full.expect("In [2]:")
full.process.send("for i := range 3 {\r")  # incomplete: the console asks is_complete and goes on
full.expect("...:")
full.process.send('fmt.Print("row ", i, ";")\r')
full.process.send("}\r\r")
full.expect("row 0;row 1;row 2;")
full.expect("In [3]:")
full.process.send("strings.ToUpperS\t")  # one completion is put in place
full.expect("strings.ToUpperSpecial")
full.process.send("\x15")
full.enter('panic("on purpose")')
full.expect("on purpose")
full.expect("In [4]:")
full.enter('name := lab.Input("who? ")')
full.expect("who? ")
full.enter("ada")
full.expect("In [5]:")
full.enter("name")
full.expect("Out[5]: ada")
full.expect("In [6]:")
full.enter('for { fmt.Print("."); time.Sleep(20 * time.Millisecond) }')
full.expect("......")
full.process.send("\x03")
full.expect("KeyboardInterrupt")
full.expect("In [7]:")
full.enter("name + \"!\"")
full.expect("Out[7]: ada!")
full.expect("In [8]:")
full.end()

simple = Console("--simple-prompt")
simple.expect("In [1]:")
simple.enter("1 + 1", "\n")  # what a line ends with, whether the terminal is raw at that moment or not
simple.expect("Out[1]: 2")
simple.end()
print("all of it works")
