package kernel

// Language is the language behind the kernel: everything the message handler needs and nothing about
// how cells are run. kernel/goeval implements it. Execute is called for one cell at a time; every other
// method may be called while a cell runs, from another goroutine.
type Language interface {
	// Info describes the language for kernel_info_reply.
	Info() LanguageInfo
	// Execute runs one cell to its end and reports what became of it. Output that appears later
	// (goroutines that outlive the cell) still goes to the out of the cell that started it.
	Execute(cell Cell, out Output) Outcome
	// Evaluate computes one user_expression of execute_request.
	Evaluate(expression string) (Bundle, *Failure)
	// Complete proposes how to go on at cursor, which counts unicode code points.
	Complete(code string, cursor int) Completion
	// Inspect tells about the name at cursor; detail 0 is signature and doc, 1 adds the source.
	Inspect(code string, cursor, detail int) (Bundle, bool)
	// IsComplete says whether code can be run as it stands.
	IsComplete(code string) Completeness
	// Interrupt asks the running cell to stop, or without one what earlier cells left running; the state of
	// the session is kept. Safe at any time.
	Interrupt()
	// Close ends the session: nothing is called afterwards.
	Close()
}

// LanguageInfo fills the language part of kernel_info_reply (message spec, "Kernel info").
type LanguageInfo struct {
	Name, Version, MIMEType, FileExtension string
	PygmentsLexer, CodeMirrorMode          string
	NBConvertExporter                      string
	Banner                                 string
	HelpLinks                              []HelpLink
}

// HelpLink is one entry of the frontend's Help menu.
type HelpLink struct {
	Text string `json:"text"`
	URL  string `json:"url"`
}

// Cell is one execute_request, as far as the language needs to know it.
type Cell struct {
	Code       string
	Count      int    // the execution count that the cell has, or the current one if it is not stored
	ID         string // metadata.cellId of the request, "" if the frontend sent none
	Silent     bool
	AllowStdin bool
	Comms      *Comms // where the cell may register targets and open comms
}

// Output takes what a running cell shows. Its methods keep their order among each other, may be called
// from several goroutines, and never block for long.
type Output interface {
	// Stream writes to "stdout" or "stderr".
	Stream(name, text string)
	// Display shows a bundle; with an id it can be updated later, from any cell.
	Display(b Bundle, displayID string)
	// UpdateDisplay replaces every display that carries the id.
	UpdateDisplay(b Bundle, displayID string)
	// ClearOutput clears what the cell has shown, at once or when the next output arrives.
	ClearOutput(wait bool)
	// Page shows a bundle in the frontend's pager (payload "page").
	Page(b Bundle)
	// NextInput puts text into a new cell, or with replace in the place of the running one (payload
	// "set_next_input").
	NextInput(text string, replace bool)
	// Input asks the person at the frontend for a line. It fails when the frontend cannot ask
	// (allow_stdin false) or when the cell is interrupted meanwhile.
	Input(prompt string, password bool) (string, error)
}

// Bundle is a MIME bundle: data by MIME type (JSON types unpacked, images base64) and its metadata.
type Bundle struct {
	Data     map[string]any
	Metadata map[string]any
}

// Outcome is what became of a cell: results in order (usually none or one), or a failure.
// Interrupted cells fail with the name "KeyboardInterrupt", which frontends know.
type Outcome struct {
	Result  *Bundle
	Failure *Failure
}

// Failure is an error for people: a name, a sentence, and the lines that point into cells.
type Failure struct {
	Name, Value string
	Traceback   []string
}

// Completion answers complete_request; offsets count code points.
type Completion struct {
	Matches    []Match
	Start, End int
}

// Match is one proposal. Kind is what JupyterLab shows an icon for (function, type, module, keyword,
// instance, …); Signature may be empty.
type Match struct {
	Text, Kind, Signature string
}

// Completeness answers is_complete_request: complete, incomplete (with the indent to go on with),
// invalid or unknown.
type Completeness struct {
	Status, Indent string
}
