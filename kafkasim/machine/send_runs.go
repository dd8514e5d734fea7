package machine

import "sort"

// sendRunChunk is how many runs lie together; full chunks never change again but for their last run, which
// does not either once there is a next.
const sendRunChunk = 512

// SendRuns are a producer's runs by number. They lie in chunks, so that the list neither moves as it
// grows nor is copied by clones.
type SendRuns struct {
	Chunks [][]SendRun // all but the last are full
}

func (r *SendRuns) len() int {
	if len(r.Chunks) == 0 {
		return 0
	}
	return (len(r.Chunks)-1)*sendRunChunk + len(r.Chunks[len(r.Chunks)-1])
}

func (r *SendRuns) at(i int) *SendRun { return &r.Chunks[i/sendRunChunk][i%sendRunChunk] }

func (r *SendRuns) add(x SendRun) {
	last := len(r.Chunks) - 1
	if last < 0 || len(r.Chunks[last]) == sendRunChunk {
		r.Chunks = append(r.Chunks, nil)
		last++
	}
	r.Chunks[last] = append(r.Chunks[last], x)
}

// find is the run of a number, -1 for none.
func (r *SendRuns) find(number int64) int {
	return sort.Search(r.len(), func(i int) bool { return r.at(i).First > number }) - 1
}

// clone shares all runs: one that is there never changes. The copy has no room, so that the first append
// moves the last chunk apart.
func (r *SendRuns) clone() SendRuns {
	c := SendRuns{Chunks: append([][]SendRun(nil), r.Chunks...)}
	if last := len(c.Chunks) - 1; last >= 0 {
		c.Chunks[last] = c.Chunks[last][:len(c.Chunks[last]):len(c.Chunks[last])]
	}
	return c
}
