package view

// Wire is what was on the wire between two moments.
type Wire struct {
	From, To int64    // µs
	Flights  []Flight // by the time when they were sent
	Omitted  int      // flights left out: of very many only the newest are told
}

// Fate says what became of a message.
type Fate uint8

// The fates of a message.
const (
	FateInFlight  Fate = iota // at Wire.To it is still on the wire
	FateHeld                  // at Wire.To it is held back, by hand or by a cut link
	FateDelivered             // its target got it
	FateDropped               // it was dropped by hand
	FateDead                  // it came to a process that does not run, or is another one than it was sent to
)

// String names the fate in words.
func (f Fate) String() string {
	return [...]string{"on the wire", "held", "arrived", "dropped", "came to a dead process"}[f]
}

// Flight is one message from its sending to its end.
type Flight struct {
	Number       int
	Sent         int64 // µs; -1 when it was sent before what the history still shows
	Ended        int64 // µs when it arrived or was dropped; of one still on the wire when it will arrive, -1 while held
	From, To     string
	API          string // the first word of Text: "Fetch"
	Text         string // in words: "Fetch orders-0 from 5"
	Fate         Fate
	Housekeeping bool // heartbeats, fetches that bring nothing, metadata fetches
}

// WireSource is a Source that can also tell what was on the wire. *kafkasim.Cluster is one.
type WireSource interface {
	Source
	Flights(from, to int64) *Wire // µs
}
