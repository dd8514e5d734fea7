package kafkasim

// watch is told how far the verbs are that let much time pass.
var watch func(verb string, done, total int64)

// SetProgress sets a function that RunFor and Steps call now and then while they work: with the verb, and
// how much is done of how much (RunFor: ms of virtual time; Steps: events), the whole of it at last. Verbs
// whose work is over before the first call never call. For whoever runs cells; nil for none.
func SetProgress(f func(verb string, done, total int64)) { watch = f }

// progress is one verb's way to its end.
type progress struct {
	verb  string
	total int64
	told  bool
}

// at tells how far it is, once in 1024 events; n counts them.
func (p *progress) at(n int64, done func() int64) {
	if watch != nil && n&1023 == 1023 {
		p.told = true
		watch(p.verb, done(), p.total)
	}
}

// end tells that it is done, if anything was told.
func (p *progress) end() {
	if watch != nil && p.told {
		watch(p.verb, p.total, p.total)
	}
}
