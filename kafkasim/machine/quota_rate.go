package machine

import "slices"

// A rate as quotas measure it: what was counted in the last windows, over the time that they cover.
//
// Kafka: SampledStat, Rate, SimpleRate, QuotaUtils.throttleTime. Times are whole ms, as on Kafka's clock.

// Rate counts in windows. A window begins with the first count after the one before was complete, so windows are
// not aligned to anything.
type Rate struct {
	Windows []RateWindow
	Current int32
}

// RateWindow is one window.
type RateWindow struct {
	Start, Last int64 // ms: when it began, and its last count
	Sum         int64
}

// windows says how a rate measures: how many windows, and how long each is, in ms.
type windows struct {
	num int32
	ms  int64
}

// record counts n at a time, in ms.
func (r *Rate) record(w windows, now, n int64) {
	if len(r.Windows) == 0 {
		r.Windows = append(r.Windows, RateWindow{Start: now, Last: now})
	}
	if x := r.Windows[r.Current]; now-x.Start >= w.ms {
		r.Current = (r.Current + 1) % (w.num + 1)
		if int(r.Current) >= len(r.Windows) {
			r.Windows = append(r.Windows, RateWindow{})
		}
		r.Windows[r.Current] = RateWindow{Start: now, Last: now}
	}
	r.Windows[r.Current].Sum += n
	r.Windows[r.Current].Last = now
}

// measure is what the windows hold, and how many ms they stand for. Those without a count for as long as all of
// them are begin anew. Until as many windows have passed as there are, less one, a quota counts with so many: a
// burst at the beginning has room. A simple rate, of replication, has no such patience.
func (r *Rate) measure(w windows, now int64, simple bool) (sum, span int64) {
	if len(r.Windows) == 0 {
		r.Windows = append(r.Windows, RateWindow{Start: now, Last: now})
	}
	oldest := now
	for i := range r.Windows {
		x := &r.Windows[i]
		if now-x.Last >= int64(w.num)*w.ms {
			*x = RateWindow{Start: now, Last: now}
		}
		sum += x.Sum
		oldest = min(oldest, x.Start)
	}
	span = now - oldest
	if simple {
		return sum, max(span, w.ms)
	}
	if full, least := span/w.ms, int64(w.num)-1; full < least {
		span += (least - full) * w.ms
	}
	return sum, max(span, 1)
}

// exceeds tells whether a rate is above a bound, in bytes/s.
func (r *Rate) exceeds(w windows, now, bound int64, simple bool) bool {
	sum, span := r.measure(w, now, simple)
	return sum*1000 > bound*span
}

// throttleMs is how long whoever counted is to wait, so that with silence the rate comes down to the bound:
// 1000·(sum/bound) - span (dc1), to the nearest ms.
func (r *Rate) throttleMs(w windows, now, bound int64) int64 {
	sum, span := r.measure(w, now, false)
	return max((sum*2000+bound)/(2*bound)-span, 0)
}

func (r *Rate) clone() Rate { return Rate{Windows: slices.Clone(r.Windows), Current: r.Current} }
