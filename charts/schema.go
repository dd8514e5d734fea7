package charts

// The MIME types of a chart's bundle, see SCHEMA.md.
const (
	MIMEChart   = "application/vnd.kafkalab.chart+json"
	MIMEECharts = "application/vnd.kafkalab.echarts+json"
)

// SchemaVersion is the v of an Envelope. A reader that meets a larger one shows the PNG.
const SchemaVersion = 1

// The kinds of chart.
const (
	KindCurve   = "curve"   // Spec is a CurveSpec
	KindCluster = "cluster" // Spec is a ReplaySpec with exactly one frame
	KindReplay  = "replay"  // Spec is a ReplaySpec
	KindDrawing = "drawing" // Spec is a DrawingSpec
)

// Envelope is what travels as application/vnd.kafkalab.chart+json. SCHEMA.md describes every field for
// those who read it in another language.
type Envelope struct {
	V    int    `json:"v"`
	ID   string `json:"id"`
	Kind string `json:"kind"`
	H    int    `json:"h"` // px, the height of the whole figure with its controls
	Alt  string `json:"alt"`
	Spec string `json:"spec"` // JSON text: nbformat would indent nested arrays
}

// CurveSpec is a chart of curves over virtual time, in one panel or in several below each other that
// share the x axis.
type CurveSpec struct {
	Title  string   `json:"title"`
	XLabel string   `json:"xLabel"`
	YLabel string   `json:"yLabel"`
	Step   bool     `json:"step"` // a value holds until the next point
	XMin   float64  `json:"xMin"`
	XMax   float64  `json:"xMax"`
	Panels []Panel  `json:"panels"`
	Series []Series `json:"series"`
	Bands  []Band   `json:"bands,omitempty"`
	Marks  []VMark  `json:"marks,omitempty"`
	Refs   []Ref    `json:"refs,omitempty"`
}

// Panel is one plot area. YMax 0 leaves the upper end to the data; the lower end is YMin.
type Panel struct {
	Label string  `json:"label"` // "" for a single panel
	YMin  float64 `json:"yMin"`
	YMax  float64 `json:"yMax"`
}

// The line styles of a Series.
const (
	LineSolid  = "solid"
	LineDashed = "dashed"
	LineDotted = "dotted"
)

// Series is one curve.
type Series struct {
	Name   string       `json:"name"`
	Panel  int          `json:"panel"`
	Colour int          `json:"colour"` // index into the palette, 0 to 5
	Line   string       `json:"line"`   // LineSolid, LineDashed or LineDotted
	Points [][2]float64 `json:"points"` // by x
}

// The tones of a Band and of a VMark.
const (
	ToneQuiet = "quiet" // grey: a broker is down
	ToneAlarm = "alarm" // vermilion: no leader, data lost
)

// Band shades a span of time. Row staggers labels that would touch: row 0 is the topmost line.
type Band struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Label string  `json:"label"`
	Panel int     `json:"panel"` // -1 for all
	Tone  string  `json:"tone"`
	Row   int     `json:"row"`
}

// VMark is a vertical line at a moment. Its label is drawn once, above the first panel, in line Row.
type VMark struct {
	X     float64 `json:"x"`
	Label string  `json:"label"`
	Tone  string  `json:"tone"`
	Row   int     `json:"row"`
}

// Ref is a horizontal dashed line with a label: "min.insync.replicas 2".
type Ref struct {
	Panel int     `json:"panel"`
	Y     float64 `json:"y"`
	Label string  `json:"label"`
}

// ReplaySpec is the cluster picture: fixed surroundings and the frames that fill them.
type ReplaySpec struct {
	Title       string         `json:"title"`
	Width       int            `json:"width"`   // px of the picture
	Height      int            `json:"height"`  // px of the picture, without controls and words
	Columns     int            `json:"columns"` // broker boxes per row
	Rows        int            `json:"rows"`    // replica rows per box
	Cells       int            `json:"cells"`   // cell slots per strip
	WordLines   int            `json:"wordLines"`
	Keys        []string       `json:"keys"` // a cell's key is an index into it, -1 for no key
	Brokers     []int          `json:"brokers"`
	Controllers []int          `json:"controllers,omitempty"`
	Wire        []WireRow      `json:"wire,omitempty"` // what is on the wire at the end
	Partitions  []string       `json:"partitions"`     // "orders-0"
	Replicas    []ReplicaPlace `json:"replicas"`
	Frames      []Frame        `json:"frames"`
}

// ReplicaPlace says which replica is drawn where. A LogDelta refers to it by index.
type ReplicaPlace struct {
	Partition int `json:"p"` // index into Partitions
	Broker    int `json:"b"` // index into Brokers
	Row       int `json:"row"`
}

// Frame is one moment: only what differs from the frame before. The first frame is whole.
type Frame struct {
	T           float64           `json:"t"` // ms
	Words       []string          `json:"words,omitempty"`
	Event       bool              `json:"event,omitempty"` // something loud: a reader can jump here
	Controllers []ControllerDelta `json:"controllers,omitempty"`
	Brokers     []BrokerDelta     `json:"brokers,omitempty"`
	Partitions  []PartitionDelta  `json:"partitions,omitempty"`
	Logs        []LogDelta        `json:"logs,omitempty"`
	Marks       []MarkDelta       `json:"marks,omitempty"`
	Clients     []string          `json:"clients,omitempty"` // replaces the lines of before
}

// The states of a broker in a picture.
const (
	BrokerUp       = "up"
	BrokerStarting = "starting"
	BrokerStopping = "stopping"
	BrokerFencedUp = "fenced"
	BrokerPaused   = "paused"
	BrokerDown     = "down"
)

// BrokerDelta replaces a broker's state.
type BrokerDelta struct {
	Broker int    `json:"b"` // index into Brokers
	State  string `json:"state"`
}

// The states of a controller in a picture.
const (
	ControllerActive     = "active"
	ControllerLeader     = "leader" // leads the quorum, and is not active yet
	ControllerFollower   = "follower"
	ControllerCandidate  = "candidate"
	ControllerUnattached = "unattached"
	ControllerPaused     = "paused"
	ControllerDown       = "down"
)

// ControllerDelta replaces a controller's state and the quorum's epoch as it knows it.
type ControllerDelta struct {
	Controller int    `json:"c"` // index into Controllers
	State      string `json:"state"`
	Epoch      int64  `json:"epoch"`
}

// WireRow is one message on the wire, or a link that is cut.
type WireRow struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Text  string `json:"text"`
	When  string `json:"when"`
	State string `json:"state"` // "", "held" or "cut"
}

// PartitionDelta replaces the controller's record of a partition and the window of offsets shown.
type PartitionDelta struct {
	Partition int   `json:"p"`
	Leader    int   `json:"leader"` // broker id, -1 for none
	Epoch     int   `json:"epoch"`
	ISR       []int `json:"isr"`  // broker ids
	From      int64 `json:"from"` // the offset in the first cell slot
}

// LogDelta replaces a replica's numbers and changes its cells: first cells outside [start, end) go,
// then those of Add come in (replacing a cell of the same offset). Gone are cells that this frame cut
// off; they are shown as ghosts in this frame only.
type LogDelta struct {
	Replica int    `json:"r"`
	Role    string `json:"role"` // "leader", "follower" or "offline", as the broker itself believes
	Start   int64  `json:"start"`
	End     int64  `json:"end"`
	HW      int64  `json:"hw"`
	Add     []Cell `json:"add,omitempty"`
	Gone    []Cell `json:"gone,omitempty"`
}

// Cell is [offset, key, epoch, mark]: key an index into Keys or -1, mark a view.Mark.
type Cell [4]int64

// MarkDelta is [partition, from, to, epoch, mark]: in every replica of the partition the cells of that
// leader epoch with from <= offset < to get the mark.
type MarkDelta [5]int64
