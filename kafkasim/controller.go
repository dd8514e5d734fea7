package kafkasim

import (
	"fmt"
	"strings"

	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/view"
)

// Controller is a handle on one controller of the metadata quorum.
type Controller struct {
	c  *Cluster
	id machine.NodeID
}

// Controller is the controller with this id; ids begin at 3001. Without an id it is the one that is active
// now, or the only one there is.
func (c *Cluster) Controller(id ...int) *Controller {
	switch {
	case len(id) > 1:
		misuse("Controller", "%d ids: want one, or none for the active controller", len(id))
	case len(id) == 1:
		n := machine.NodeID(id[0])
		if n < machine.FirstController || int(n-machine.FirstController) >= len(c.s.Controllers) {
			misuse(fmt.Sprintf("Controller(%d)", id[0]), "there is no controller %d; this cluster has %s", id[0], c.controllerIDs())
		}
		return &Controller{c: c, id: n}
	case len(c.s.Controllers) == 1:
		return &Controller{c: c, id: machine.FirstController}
	}
	active := c.s.ActiveController()
	if active == nil {
		misuse("Controller()", "no controller is active now; Controllers() shows how they are, and Controller(3001) is one of them")
	}
	return &Controller{c: c, id: active.ID}
}

// controllerIDs is "controller 3001" or "controllers 3001, 3002, 3003".
func (c *Cluster) controllerIDs() string {
	var ids []string
	for i := range c.s.Controllers {
		ids = append(ids, fmt.Sprint(c.s.Controllers[i].ID))
	}
	if len(ids) == 1 {
		return "controller " + ids[0]
	}
	return "controllers " + strings.Join(ids, ", ")
}

// ID is the controller's id.
func (x *Controller) ID() int { return int(x.id) }

func (x *Controller) state() *machine.Controller {
	return &x.c.s.Controllers[x.id-machine.FirstController]
}

func (x *Controller) act(verb string, cmd machine.Command) *Controller {
	x.c.apply(fmt.Sprintf("c.Controller(%d).%s()", x.id, verb), cmd)
	return x
}

func (x *Controller) misuse(verb, what string) {
	misuse(fmt.Sprintf("Controller(%d).%s", x.id, verb), "controller %d %s", x.id, what)
}

func (x *Controller) needsAlive(verb string) {
	if !x.state().Running {
		x.misuse(verb, "is not running; Start() it first")
	}
}

// Crash kills the controller's process, as kill -9 does. Its metadata log, its epoch and its vote are on its
// disk. Brokers' connections to it break at once.
func (x *Controller) Crash() *Controller {
	x.needsAlive("Crash")
	return x.act("Crash", machine.CrashController{Controller: x.id})
}

// Start starts a controller that is not running. It follows whom it knows as leader, or stands for election.
func (x *Controller) Start() *Controller {
	if x.state().Running {
		x.misuse("Start", "is running already")
	}
	return x.act("Start", machine.StartController{Controller: x.id})
}

// Pause makes the controller silent while it lives, as SIGSTOP does. Brokers that talk to it wait.
func (x *Controller) Pause() *Controller {
	x.needsAlive("Pause")
	if x.state().Paused {
		x.misuse("Pause", "is paused already")
	}
	return x.act("Pause", machine.PauseController{Controller: x.id})
}

// Resume lets a paused controller go on; what arrived meanwhile is handled now.
func (x *Controller) Resume() *Controller {
	if !x.state().Paused {
		x.misuse("Resume", "is not paused")
	}
	return x.act("Resume", machine.ResumeController{Controller: x.id})
}

// View is the controller as it is now.
func (x *Controller) View() view.Controller { return viewController(x.state()) }

// String says what the controller is in the quorum.
func (x *Controller) String() string {
	v := x.View()
	s := fmt.Sprintf("controller %d: %s", v.ID, v.State)
	if v.Paused {
		s += ", paused"
	}
	if v.Active {
		s += ", active"
	}
	s += fmt.Sprintf(", epoch %d", v.Epoch)
	if v.Alive && v.Leader != v.ID {
		s += ", leader " + brokerWord(v.Leader)
	}
	if v.Voted > 0 {
		s += fmt.Sprintf(", voted for %d", v.Voted)
	}
	return s + fmt.Sprintf(", log end %d, high watermark %d", v.LogEndOffset, v.HighWatermark)
}

func viewController(x *machine.Controller) view.Controller {
	q := &x.Quorum
	v := view.Controller{
		ID: int(x.ID), State: q.State.String(), Alive: x.Running, Paused: x.Paused, Active: x.Active, Epoch: int(q.Epoch), Leader: -1, Voted: -1,
		LogEndOffset: int64(len(x.Log)), HighWatermark: q.HighWatermark,
	}
	v.Records = viewMetadata(x)
	if !x.Running {
		v.State = machine.NotRunning.String()
	}
	if q.Leader != machine.NoNode {
		v.Leader = int(q.Leader)
	}
	if q.Voted != machine.NoNode {
		v.Voted = int(q.Voted)
	}
	return v
}

// Controllers is a snapshot of all controllers.
type Controllers []view.Controller

// Controllers shows every controller as it is now.
func (c *Cluster) Controllers() Controllers {
	var out Controllers
	for i := range c.s.Controllers {
		out = append(out, viewController(&c.s.Controllers[i]))
	}
	return out
}

// String is a table with a row for each.
func (l Controllers) String() string {
	table := [][]string{{"CONTROLLER", "STATE", "EPOCH", "LEADER", "VOTED", "HW", "END"}}
	for _, v := range l {
		state := v.State
		if v.Paused {
			state += ", paused"
		}
		if v.Active {
			state += ", active"
		}
		table = append(table, []string{fmt.Sprint(v.ID), state, fmt.Sprint(v.Epoch), brokerWord(v.Leader), brokerWord(v.Voted),
			fmt.Sprint(v.HighWatermark), fmt.Sprint(v.LogEndOffset)})
	}
	return rows(table)
}

// askPatience is how long an administrator waits, in µs (default.api.timeout.ms).
const askPatience = 60_000_000

// ask asks the active controller for something, through a broker where there are several controllers, and lets
// time pass until there is an answer: a minute at most (default.api.timeout.ms). Without one the Error is
// TimeoutException, and what was asked for may still be done.
func (c *Cluster) ask(code string, cmd machine.Command) machine.Result {
	r := c.apply(code, cmd)
	if r.Pending == 0 {
		return r
	}
	i := r.Pending - 1
	c.stepUntil(c.passing("asking the controller, ms at most", askPatience), func() bool { return c.s.Admin[i].Done || c.s.Admin[i].GivenUp })
	if !c.s.Admin[i].Done {
		return machine.Result{Error: machine.TIMEOUT_EXCEPTION, ID: -1}
	}
	return c.s.Admin[i].Result
}

// undecided is what a TimeoutException means.
const undecided = "no answer in a minute (TimeoutException): it may still be done, if the controllers find a leader again soon"

// quorumUp tells whether enough controllers are up for a majority.
func (c *Cluster) quorumUp() bool {
	up := 0
	for i := range c.s.Controllers {
		if x := &c.s.Controllers[i]; x.Running && !x.Paused {
			up++
		}
	}
	return up > len(c.s.Controllers)/2
}

// openControllers looks for an election that is under way, and for controllers that have not the whole log.
func (c *Cluster) openControllers() string {
	if !c.quorumUp() {
		return ""
	}
	if c.s.ActiveController() == nil {
		return "the controllers have no leader"
	}
	for i := range c.s.Admin {
		if a := &c.s.Admin[i]; !a.Done && !a.GivenUp {
			return "the controller has not answered a request"
		}
	}
	return ""
}
