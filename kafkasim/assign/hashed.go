package assign

import (
	"cmp"
	"slices"
)

// hashed is the keys of one of Java's hash tables, in the order in which it goes through them. Kafka's assignor for share
// groups goes through HashMaps and HashSets, so that who gets what follows from the hashes of topic ids and members' numbers.
//
// The order is: by bucket, and within one by age (HashMap.put: the oldest first; computeIfAbsent: the newest first, and
// it makes the table larger one key later). Not here: the trees that Java makes of buckets with eight keys.
type hashed[K comparable] struct {
	keys     []K
	has      map[K]bool
	hash     func(K) int32
	table    int
	computed bool // filled by computeIfAbsent
}

// newHashed is a table for so many keys, as AssignorHelpers.newHashMap makes it; 0 is Java's default.
func newHashed[K comparable](keys int, computed bool, hash func(K) int32) *hashed[K] {
	x := &hashed[K]{hash: hash, table: 16, computed: computed, has: map[K]bool{}}
	if keys > 0 {
		want := int(float32(keys+1)/0.75 + 1)
		for x.table = 1; x.table < want; {
			x.table *= 2
		}
	}
	return x
}

// add puts a key in, if it is not there.
func (x *hashed[K]) add(k K) {
	if x.has[k] {
		return
	}
	x.has[k] = true
	if x.computed {
		if 4*len(x.keys) > 3*x.table {
			x.table *= 2
		}
		x.keys = slices.Insert(x.keys, 0, k)
		return
	}
	x.keys = append(x.keys, k)
	if 4*len(x.keys) > 3*x.table {
		x.table *= 2
	}
}

func (x *hashed[K]) remove(k K) {
	if x.has[k] {
		delete(x.has, k)
		x.keys = slices.Delete(x.keys, slices.Index(x.keys, k), slices.Index(x.keys, k)+1)
	}
}

func (x *hashed[K]) size() int { return len(x.keys) }

// all are the keys in Java's order, a list of its own.
func (x *hashed[K]) all() []K {
	bucket := func(k K) uint32 {
		h := uint32(x.hash(k))
		return (h ^ h>>16) & uint32(x.table-1)
	}
	out := slices.Clone(x.keys)
	slices.SortStableFunc(out, func(a, b K) int { return cmp.Compare(bucket(a), bucket(b)) })
	return out
}

// JavaOrder puts strings into the order in which a HashMap that was filled with them goes through them.
func JavaOrder(keys []string) []string {
	x := newHashed(0, false, func(k string) int32 {
		var h int32
		for _, c := range []byte(k) { // ids are ASCII
			h = 31*h + int32(c)
		}
		return h
	})
	for _, k := range keys {
		x.add(k)
	}
	return x.all()
}
