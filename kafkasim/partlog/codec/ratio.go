package codec

import "math"

// Ratio is an estimate of how small a codec makes records, as Kafka's float has it bit for bit (P-33); the zero
// value is 1, with which every topic begins.
//
// Kafka: CompressionRatioEstimator.
type Ratio uint32

const (
	// worse and better are the steps by which an estimate goes up and down.
	worse  float32 = 0.05
	better float32 = 0.005
	// margin is added to every estimate of a size.
	margin float32 = 1.05
)

func (r Ratio) float() float32 {
	if r == 0 {
		return 1
	}
	return math.Float32frombits(uint32(r))
}

func ratio(f float32) Ratio { return Ratio(math.Float32bits(f)) }

// Observe is the estimate after a batch whose records were so many bytes and became so many.
func (r Ratio) Observe(raw, compressed int32) Ratio {
	seen := observed(raw, compressed)
	switch now := r.float(); {
	case seen > now:
		return ratio(max(float32(now+worse), seen))
	case seen < now:
		return ratio(max(float32(now-better), seen))
	}
	return r
}

func observed(raw, compressed int32) float32 { return float32(compressed) / float32(raw) }

// Split is the estimate after a batch of this ratio turned out too large: its parts are cut as if they did not
// shrink at all (P-67).
func Split(raw, compressed int32) Ratio { return ratio(max(1, observed(raw, compressed))) }

// Estimate is how many bytes so many bytes of records are thought to become.
func (r Ratio) Estimate(raw int32) int32 {
	part := float32(float32(raw) * r.float())
	return int32(float32(part * margin))
}

// Mean is the ratio as a number, for metrics.
func (r Ratio) Mean() float64 { return float64(r.float()) }
