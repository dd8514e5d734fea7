// Package prng draws random numbers by purpose: a draw is a hash of (seed, purpose, ids, counter), so
// that a fork which crashes one more broker does not reshuffle what has nothing to do with it.
package prng

// Draw returns a uniform 64-bit number for the given seed, purpose and ids.
func Draw(seed uint64, purpose uint32, ids ...uint64) uint64 {
	h := mix(seed ^ uint64(purpose)*0x9e3779b97f4a7c15)
	for _, id := range ids {
		h = mix(h ^ mix(id+0x9e3779b97f4a7c15))
	}
	return h
}

// Below maps a draw to [0, n) without bias worth noticing (n is small everywhere here); n must be > 0.
func Below(draw uint64, n int) int {
	return int(draw >> 1 % uint64(n))
}

// mix is the finaliser of splitmix64 (Steele, Lea, Flood 2014), a bijection that spreads every bit.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
