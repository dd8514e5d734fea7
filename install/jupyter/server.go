package jupyter

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strconv"
)

// Server says how to start JupyterLab.
type Server struct {
	Root      string   // the folder that it shows
	Open      string   // a file in Root to open first, "" for none
	NoBrowser bool     // print the address instead of opening it
	Port      int      // 0: Jupyter's own choice, from 8888 up
	Args      []string // passed on as they are
}

// Command makes the command that starts lab. Jupyter refuses to run as root unless told; someone who runs
// us as root (a container) has decided that already.
func (s Server) Command(lab Lab) *exec.Cmd {
	args := []string{"--ServerApp.root_dir=" + s.Root}
	if s.Open != "" {
		args = append(args, "--LabApp.default_url=/lab/tree/"+url.PathEscape(s.Open))
	}
	if s.NoBrowser {
		args = append(args, "--no-browser")
	}
	if s.Port != 0 {
		args = append(args, "--port", strconv.Itoa(s.Port), "--ServerApp.port_retries=0")
	}
	if os.Geteuid() == 0 {
		args = append(args, "--allow-root")
	}
	cmd := exec.Command(lab.Program, append(args, s.Args...)...)
	cmd.Dir = s.Root
	return cmd
}

// CheckPort fails with a sentence when another program listens on the port already.
func CheckPort(port int) error {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return fmt.Errorf("port %d is taken (%w): choose another --port, or leave it out and Jupyter looks for a free one", port, err)
	}
	return l.Close()
}
