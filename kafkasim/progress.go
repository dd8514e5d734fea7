package kafkasim

// watch is told how far the verbs are that let much time pass.
var watch func(verb string, done, total int64)

// SetProgress sets a function that the verbs which may take long call now and then while they work: with
// the verb and its unit, and how much is done of how much. RunFor, Steps, Load and Replay know their end; RunUntil,
// Settle and Poll know the virtual time that they take at most, Flush and Close the records that are still
// undecided. The last call says that all is done, of as much as it turned out to be. Verbs whose work is
// over before the first call never call. For whoever runs cells; nil for none.
func SetProgress(f func(verb string, done, total int64)) { watch = f }

// progress is one verb's way to its end. done says how much of the total is done; it only grows.
type progress struct {
	verb  string
	total int64
	done  func() int64
	told  bool
}

// passing is the progress of a verb that ends after so many µs of virtual time at the latest.
func (c *Cluster) passing(verb string, most int64) *progress {
	from := c.s.Now
	return &progress{verb: verb, total: most / 1000, done: func() int64 { return (c.s.Now - from) / 1000 }}
}

// at tells how far it is, once in 1024 events; n counts them.
func (p *progress) at(n int64) {
	if watch != nil && n&1023 == 1023 {
		p.told = true
		watch(p.verb, min(p.done(), p.total), p.total)
	}
}

// end tells that it is done, if anything was told: a verb that was done early has done all it had to.
func (p *progress) end() {
	if watch != nil && p.told {
		done := min(p.done(), p.total)
		watch(p.verb, done, done)
	}
}
