package oracle

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/partlog"
)

// Transactions: raw requests of one transactional producer, and what each isolation level sees.

// txnReplay is what the recorder knew of a transactional id.
type txnReplay struct {
	pid   int64
	epoch int16
	first int64 // the producer id that it began with
}

// txnCall asks the coordinator of a transactional id, as long as its answer is to ask again and is not what the
// recorder was told.
func (r *replay) txnCall(id string, m machine.Payload, told string, code func(machine.Payload) machine.Code) (machine.Payload, error) {
	for range 300 {
		f, ok := r.call(r.alive(), machine.FindCoordinatorRequest{Kind: machine.TransactionCoordinator, Key: id}).(machine.FindCoordinatorResponse)
		if ok && f.Error == machine.NONE {
			p := r.call(int(f.Node), m)
			switch c := code(p); {
			case c.String() == told:
				return p, nil
			case c != machine.NOT_COORDINATOR && c != machine.COORDINATOR_LOAD_IN_PROGRESS && c != machine.COORDINATOR_NOT_AVAILABLE && c != machine.CONCURRENT_TRANSACTIONS:
				return p, nil
			}
		}
		r.run(20 * millis)
	}
	return nil, fmt.Errorf("no answer of the coordinator of %s", id)
}

// alive is a broker that runs.
func (r *replay) alive() int {
	return 1 + slices.IndexFunc(r.Brokers, func(b machine.Broker) bool { return b.Process == machine.Running })
}

// initialise is InitProducerId without an id: what a new instance does.
func (r *replay) initialise(id string, timeoutMs int64, told string) (machine.InitProducerIDResponse, error) {
	p, err := r.txnCall(id, machine.InitProducerIDRequest{TransactionalID: id, TimeoutMs: timeoutMs, ProducerID: -1, ProducerEpoch: -1}, told,
		func(p machine.Payload) machine.Code { return p.(machine.InitProducerIDResponse).Error })
	if err != nil {
		return machine.InitProducerIDResponse{}, err
	}
	return p.(machine.InitProducerIDResponse), nil
}

func (r *replay) begin(id string) (*txnReplay, error) {
	if r.txns == nil {
		r.txns = map[string]*txnReplay{}
	}
	a, err := r.initialise(id, r.timeoutToCome(), "")
	if err != nil {
		return nil, err
	}
	r.txns[id] = &txnReplay{a.ProducerID, a.ProducerEpoch, a.ProducerID}
	r.lastTxn = id
	if a.Error != machine.NONE {
		return nil, fmt.Errorf("InitProducerId: %v", a.Error)
	}
	return r.txns[id], nil
}

// timeoutToCome is the transaction.timeout.ms of a producer that begins now: j2 tells it when it waits for it.
func (r *replay) timeoutToCome() int64 {
	for _, step := range r.rec.Steps[r.at:min(r.at+2, len(r.rec.Steps))] {
		if ms, ok := strings.CutPrefix(step.Do.str("note"), "transaction.timeout.ms "); ok {
			return Operation{"ms": []byte(ms)}.num("ms", 0)
		}
	}
	return 60_000
}

// initTransactional is InitProducerId with a transactional id: of the id that it names, or of the one that the
// steps are about, by another instance.
func (r *replay) initTransactional(op Operation, saw json.RawMessage) error {
	if op.has("producerId") {
		return fmt.Errorf("%w: InitProducerId of an id that the recording does not name", errInexpressible)
	}
	var want struct {
		Error      string
		Epoch      *int16
		SamePid    *bool
		ProducerID string
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	id := r.lastTxn
	if op.has("txnId") {
		id = op.str("txnId")
	} else if op.has("txnTimeoutMs") {
		id = "timed-too-long"
	}
	a, err := r.initialise(id, op.num("txnTimeoutMs", 60_000), want.Error)
	if err != nil {
		return err
	}
	x := r.txns[id]
	switch {
	case want.Error != "" && a.Error.String() != want.Error:
		return fmt.Errorf("%v, want %s", a.Error, want.Error)
	case want.Epoch != nil && a.ProducerEpoch != *want.Epoch:
		return fmt.Errorf("epoch %d, want %d", a.ProducerEpoch, *want.Epoch)
	case a.Error != machine.NONE:
		return nil
	case want.SamePid != nil && *want.SamePid != (x != nil && a.ProducerID == x.pid):
		return fmt.Errorf("producer id %d after %+v", a.ProducerID, x)
	case want.ProducerID == "new" && a.ProducerID == x.first:
		return fmt.Errorf("producer id %d again", a.ProducerID)
	case x == nil:
		if r.txns == nil {
			r.txns = map[string]*txnReplay{}
		}
		r.txns[id], r.lastTxn = &txnReplay{a.ProducerID, a.ProducerEpoch, a.ProducerID}, id
	}
	return nil
}

// produceTxn is one attempt to send a transactional batch (Produce v12).
func (r *replay) produceTxn(op Operation, saw json.RawMessage) error {
	return r.produceTransactional(op, machine.TransactionV2, saw)
}

// produceTransactional is one attempt to send a transactional batch, with the producer's first id and whatever epoch
// the step has.
func (r *replay) produceTransactional(op Operation, version int8, saw json.RawMessage) error {
	id := r.lastTxn
	if op.has("txn") {
		id = op.str("txn")
	}
	x := r.txns[id]
	if x == nil {
		var err error
		if x, err = r.begin(id); err != nil {
			return err
		}
	}
	tp, batch := r.tp(op), r.batch(r.valuesOf(op, saw))
	batch.ProducerID, batch.BaseSequence, batch.Transactional = x.pid, int32(op.num("seq", 0)), true
	batch.ProducerEpoch = int16(op.num("producerEpoch", op.num("epoch", 0)))
	return compareProduce(r.call(r.leader(tp), r.txnProduce(id, tp, batch, version)), saw)
}

// valuesOf are the values that a step sends. Where it does not name them, they are what is seen later at the offset
// that it was given; what is refused may be anything.
func (r *replay) valuesOf(op Operation, saw json.RawMessage) []string {
	if op.has("values") {
		return op.strs("values")
	}
	var want produceSaw
	if json.Unmarshal(saw, &want) != nil || want.BaseOffset == nil {
		return []string{"x"}
	}
	return []string{r.seenAt(*want.BaseOffset)}
}

// seenAt is the value that a later step saw at an offset.
func (r *replay) seenAt(offset int64) string {
	for _, step := range r.rec.Steps[r.at:] {
		if m := regexp.MustCompile(fmt.Sprintf(`"%d:([^"<]*)"`, offset)).FindSubmatch(step.Saw); m != nil {
			return string(m[1])
		}
	}
	return "x"
}

func (r *replay) txnProduce(id string, tp machine.TopicPartition, batch partlog.Batch, version int8) machine.ProduceRequest {
	return machine.ProduceRequest{Acks: -1, TimeoutMs: 4000, TransactionalID: id, Version: version, Parts: []machine.ProducePart{{TP: tp, Batch: batch}}}
}

// plainBatchOfTxnProducer is a batch outside any transaction, of a producer that has none open.
func (r *replay) plainBatchOfTxnProducer(op Operation, saw json.RawMessage) error {
	tp, x := r.tp(op), r.txns[r.lastTxn]
	batch := r.batch([]string{"n"})
	batch.ProducerID, batch.ProducerEpoch = x.pid, x.epoch
	batch.BaseSequence = 0
	return r.send(r.leader(tp), tp, -1, 4000, batch, saw)
}

// endTxn is one EndTxn v5: of the last transactional id, or, in j3, of a fresh one that is brought to a state first.
func (r *replay) endTxn(op Operation, saw json.RawMessage) error {
	var want struct {
		Error                    string
		NewEpoch                 *int16
		SamePid                  *bool
		NewEpochMinusCoordinator *int16
		LastState                string
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	id := r.lastTxn
	m := machine.EndTxnRequest{Version: machine.TransactionV2}
	op.into("commit", &m.Commit)
	if op.has("state") {
		var err error
		if id, err = r.bring(op.str("state")); err != nil {
			return err
		}
	}
	if id == "" {
		return fmt.Errorf("%w: no transactional id", errInexpressible)
	}
	x := r.txns[id]
	coordinator := x.epoch
	m.ID, m.ProducerID, m.ProducerEpoch = id, x.pid, coordinator
	switch {
	case op.has("state"):
		if op.str("epoch") == "coordinator-1" {
			m.ProducerEpoch--
		}
	case op.has("txnId"):
		id = op.str("txnId")
		x = r.txns[id]
		m.ID, m.ProducerID, m.ProducerEpoch = id, x.pid, int16(op.num("epoch", 0))
	case strings.Contains(op.str("note"), "other producer id"):
		m.ProducerID += 1000
	case strings.Contains(op.str("note"), "unknown transactional id"):
		m.ID = "nobody"
	case strings.Contains(op.str("note"), "epoch above"):
		m.ProducerEpoch++
	case strings.Contains(op.str("note"), "old id"):
		m.ProducerID, m.ProducerEpoch = x.first, int16(op.num("epoch", 0))
	default:
		m.ProducerEpoch = int16(op.num("epoch", 0))
	}
	p, err := r.txnCall(m.ID, m, want.Error, func(p machine.Payload) machine.Code { return p.(machine.EndTxnResponse).Error })
	if err != nil {
		return err
	}
	a := p.(machine.EndTxnResponse)
	r.run(300 * millis)
	switch {
	case a.Error.String() != want.Error:
		return fmt.Errorf("%v, want %s", a.Error, want.Error)
	case want.SamePid != nil && *want.SamePid != (a.ProducerID == m.ProducerID):
		return fmt.Errorf("producer id %d after %d", a.ProducerID, m.ProducerID)
	case want.NewEpoch != nil && a.ProducerEpoch != *want.NewEpoch:
		return fmt.Errorf("epoch %d, want %d", a.ProducerEpoch, *want.NewEpoch)
	case want.NewEpochMinusCoordinator != nil && a.ProducerEpoch-coordinator != *want.NewEpochMinusCoordinator:
		return fmt.Errorf("epoch %d at coordinator epoch %d, want %d more", a.ProducerEpoch, coordinator, *want.NewEpochMinusCoordinator)
	}
	if a.Error == machine.NONE {
		x.pid, x.epoch = a.ProducerID, a.ProducerEpoch
	}
	if states := r.transactionRecords(id); want.LastState != "" && (len(states) == 0 || states[len(states)-1].State != want.LastState) {
		return fmt.Errorf("the last state in the log is %+v, want %s", states, want.LastState)
	}
	return nil
}

// bring makes a fresh transactional id and brings it to a state.
func (r *replay) bring(state string) (string, error) {
	id := fmt.Sprint("t-", r.at)
	x, err := r.begin(id)
	if err != nil || state == "Empty" {
		// The epoch must have one below it.
		if err == nil {
			x, err = r.begin(id)
		}
		_ = x
		return id, err
	}
	tp := machine.TopicPartition{Topic: r.topics[r.topic]}
	batch := r.batch([]string{"v"})
	batch.ProducerID, batch.ProducerEpoch, batch.BaseSequence, batch.Transactional = x.pid, x.epoch, 0, true
	if a, ok := r.call(r.leader(tp), r.txnProduce(id, tp, batch, machine.TransactionV2)).(machine.ProduceResponse); !ok || a.Parts[0].Error != machine.NONE {
		return id, fmt.Errorf("the transaction does not begin: %+v", a)
	}
	if state == "Ongoing" {
		return id, nil
	}
	p, err := r.txnCall(id, machine.EndTxnRequest{ID: id, ProducerID: x.pid, ProducerEpoch: x.epoch, Commit: state == "CompleteCommit", Version: machine.TransactionV2}, "",
		func(p machine.Payload) machine.Code { return p.(machine.EndTxnResponse).Error })
	if err == nil {
		x.epoch = p.(machine.EndTxnResponse).ProducerEpoch
		r.run(300 * millis)
	}
	return id, err
}

// stateRecord is a record of __transaction_state as the recordings have it (T-2, T-3).
type stateRecord struct {
	State            string   `json:"state"`
	PID              string   `json:"pid"`
	Epoch            int16    `json:"epoch"`
	Partitions       []string `json:"partitions"`
	ClientTxnVersion int8     `json:"clientTxnVersion"`
}

// transactionRecords are the records of a transactional id in __transaction_state.
func (r *replay) transactionRecords(id string) []stateRecord {
	out := []stateRecord{}
	ids := map[int64]string{} // recordings name producer ids by their order in each look
	for i := range r.Metadata().Topics {
		if r.Metadata().Topics[i].Name != machine.TransactionStateTopic {
			continue
		}
		tp := machine.TopicPartition{Topic: int32(i)}
		log := &r.replica(r.leader(tp), tp).Log
		log.Batches(0, func(b *partlog.Batch) bool {
			for _, rec := range b.Records.All() {
				if t, ok := r.ReadTransaction(rec); ok && t.ID == id {
					if ids[t.ProducerID] == "" {
						ids[t.ProducerID] = fmt.Sprint("P", len(ids)+1)
					}
					x := stateRecord{t.State.String(), ids[t.ProducerID], t.ProducerEpoch, []string{}, t.Version}
					for _, tp := range t.Partitions {
						x.Partitions = append(x.Partitions, r.PartitionName(tp))
					}
					out = append(out, x)
				}
			}
			return true
		})
	}
	return out
}

func (r *replay) transactionState(op Operation, saw json.RawMessage) error {
	var want []stateRecord
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	id := r.lastTxn
	if op.has("txnId") {
		id = op.str("txnId")
	}
	got := r.transactionRecords(id)
	if op.name() == "transactionStateLast10" {
		got = got[max(0, len(got)-10):]
		ids := map[string]string{}
		for i := range got {
			if ids[got[i].PID] == "" {
				ids[got[i].PID] = fmt.Sprint("P", len(ids)+1)
			}
			got[i].PID = ids[got[i].PID]
		}
	}
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		return fmt.Errorf("__transaction_state has\n %s, want\n %s", g, w)
	}
	return nil
}

// isolationView is what a fetch of a whole partition answers under one isolation level (T-44 to T-46).
type isolationView struct {
	Error    string         `json:"error"`
	HW       int64          `json:"hw"`
	LSO      *int64         `json:"lso,omitempty"` // under read_committed
	LogStart int64          `json:"logStart"`
	Aborted  []abortedSince `json:"aborted,omitempty"`
	Records  []string       `json:"records"`
}

type abortedSince struct {
	FirstOffset int64 `json:"firstOffset"`
}

// latestView is where ListOffsets says that the partition ends.
type latestView struct {
	Error  string `json:"error"`
	Offset int64  `json:"offset"`
}

// isolationViews are a fetch and, in some recordings, "latest" under both isolation levels.
func (r *replay) isolationViews(op Operation, saw json.RawMessage) error {
	var want struct {
		RU isolationView `json:"read_uncommitted"`
		RC isolationView `json:"read_committed"`
		LU *latestView   `json:"latest_ru"`
		LC *latestView   `json:"latest_rc"`
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	r.run(300 * millis)
	tp := r.tp(op)
	for _, x := range []struct {
		committed bool
		want      isolationView
		latest    *latestView
	}{{false, want.RU, want.LU}, {true, want.RC, want.LC}} {
		got := r.fetchUnder(tp, x.committed)
		if len(x.want.Records) > 0 { // some were fetched from a later offset on
			if i := slices.Index(got.Records, x.want.Records[0]); i > 0 {
				got.Records = got.Records[i:]
			}
		}
		if err := equalAsJSON(got, x.want); err != nil {
			return fmt.Errorf("committed %v: %w", x.committed, err)
		}
		if x.latest == nil {
			continue
		}
		l := r.call(r.leader(tp), machine.ListOffsetsRequest{Committed: x.committed, Parts: []machine.ListOffsetsPart{{TP: tp, Timestamp: machine.LatestTimestamp, LeaderEpoch: -1}}}).(machine.ListOffsetsResponse).Parts[0]
		if err := equalAsJSON(latestView{l.Error.String(), l.Offset}, *x.latest); err != nil {
			return fmt.Errorf("committed %v: latest: %w", x.committed, err)
		}
	}
	return nil
}

// fetchUnder fetches all of a partition under one isolation level.
func (r *replay) fetchUnder(tp machine.TopicPartition, committed bool) isolationView {
	a := r.call(r.leader(tp), machine.FetchRequest{BrokerEpoch: -1, SessionEpoch: machine.FinalFetchEpoch, MinBytes: 1, MaxBytes: 1 << 20, Committed: committed,
		Parts: []machine.FetchPart{{TP: tp, LeaderEpoch: -1, LastFetchedEpoch: -1, LogStartOffset: -1, MaxBytes: 1 << 20}}}).(machine.FetchResponse).Parts[0]
	v := isolationView{Error: a.Error.String(), HW: a.HighWatermark, LogStart: a.LogStartOffset, Records: []string{}}
	if committed {
		v.LSO = &a.LastStable
	}
	for i := range a.Aborted {
		v.Aborted = append(v.Aborted, abortedSince{a.Aborted[i].First})
	}
	for i := range a.Batches {
		b := &a.Batches[i]
		if m, ok := b.Marker(); ok {
			v.Records = append(v.Records, fmt.Sprintf("%d:<%s>", b.BaseOffset, map[bool]string{true: "COMMIT", false: "ABORT"}[m.Commit]))
		} else {
			v.Records = append(v.Records, recordsOf(b)...)
		}
	}
	return v
}

// equalAsJSON compares two values of one type.
func equalAsJSON(got, want any) error {
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if string(g) != string(w) {
		return fmt.Errorf("%s, want %s", g, w)
	}
	return nil
}
