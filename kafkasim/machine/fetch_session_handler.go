package machine

import "slices"

// Fetch sessions, on the side that fetches.
//
// Kafka: FetchSessionHandler, FetchMetadata (KIP-227).

// SessionHandler is a fetcher's side of its session with one broker.
type SessionHandler struct {
	ID    int32       // 0 for none
	Epoch int32       // of the next request; InitialFetchEpoch for a full one
	Parts []FetchPart // what the broker knows when it has had the last request, by partition
}

// full tells whether the next request names everything.
func (h *SessionHandler) full() bool { return h.Epoch <= InitialFetchEpoch }

// part finds what was last asked for a partition.
func (h *SessionHandler) part(tp TopicPartition) (int, bool) {
	return slices.BinarySearchFunc(h.Parts, tp, func(p FetchPart, tp TopicPartition) int {
		switch {
		case p.TP.less(tp):
			return -1
		case tp.less(p.TP):
			return 1
		}
		return 0
	})
}

// begin takes over what a full request names.
func (h *SessionHandler) begin(parts []FetchPart) {
	h.Parts = slices.Clone(parts)
	slices.SortFunc(h.Parts, func(a, b FetchPart) int {
		if a.TP.less(b.TP) {
			return -1
		}
		return 1
	})
}

// ask takes over what is to be asked for a partition and tells whether the next request has to name it.
func (h *SessionHandler) ask(p *FetchPart) bool {
	i, found := h.part(p.TP)
	switch {
	case !found:
		h.Parts = slices.Insert(h.Parts, i, *p)
	case h.Parts[i] == *p:
		return false
	default:
		h.Parts[i] = *p
	}
	return true
}

// forget drops a partition and tells whether the broker has to be told.
func (h *SessionHandler) forget(tp TopicPartition) bool {
	i, found := h.part(tp)
	if found {
		h.Parts = slices.Delete(h.Parts, i, i+1)
	}
	return found
}

// forgetOthers drops all partitions but these, and tells which. Nearly always there are none, which a look at each tells.
func (h *SessionHandler) forgetOthers(parts []FetchPart) []TopicPartition {
	known := 0
	for i := range parts {
		if _, found := h.part(parts[i].TP); found {
			known++
		}
	}
	if known == len(h.Parts) {
		return nil
	}
	var forgotten []TopicPartition
	for _, p := range slices.Clone(h.Parts) {
		if !slices.ContainsFunc(parts, func(x FetchPart) bool { return x.TP == p.TP }) {
			h.forget(p.TP)
			forgotten = append(forgotten, p.TP)
		}
	}
	return forgotten
}

// answered goes on by an answer, and tells whether it can be used.
func (h *SessionHandler) answered(m *FetchResponse) bool {
	switch {
	case m.Error == FETCH_SESSION_ID_NOT_FOUND:
		h.ID, h.Epoch = 0, InitialFetchEpoch
	case m.Error != NONE:
		h.Epoch = InitialFetchEpoch
	case h.full() && m.ThrottleMs > 0 && len(m.Parts) == 0: // KIP-219: no answer to a full fetch but that
		h.ID, h.Epoch = 0, InitialFetchEpoch
		return false
	case m.SessionID == 0:
		h.ID, h.Epoch = 0, InitialFetchEpoch
	case h.full():
		h.ID, h.Epoch = m.SessionID, InitialFetchEpoch+1
	default:
		h.Epoch++
	}
	return m.Error == NONE
}

// failed is a request without an answer: the next one is a full one, and ends the session.
func (h *SessionHandler) failed() { h.Epoch = InitialFetchEpoch }
