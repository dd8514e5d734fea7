package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/partlog"
)

// Transactions (j1, j3): raw requests of one transactional producer, and what each isolation level sees.

// txnReplay is what the recorder knew of a transactional id.
type txnReplay struct {
	pid   int64
	epoch int16
}

// txnCall asks the coordinator of a transactional id, as long as its answer is to ask again.
func (r *replay) txnCall(id string, m machine.Payload, code func(machine.Payload) machine.Code) (machine.Payload, error) {
	for range 300 {
		f, ok := r.call(1, machine.FindCoordinatorRequest{Kind: machine.TransactionCoordinator, Key: id}).(machine.FindCoordinatorResponse)
		if ok && f.Error == machine.NONE {
			p := r.call(int(f.Node), m)
			switch c := code(p); c {
			case machine.NOT_COORDINATOR, machine.COORDINATOR_LOAD_IN_PROGRESS, machine.COORDINATOR_NOT_AVAILABLE, machine.CONCURRENT_TRANSACTIONS:
			default:
				return p, nil
			}
		}
		r.run(20 * millis)
	}
	return nil, fmt.Errorf("no answer of the coordinator of %s", id)
}

func (r *replay) begin(id string) (*txnReplay, error) {
	if r.txns == nil {
		r.txns = map[string]*txnReplay{}
	}
	p, err := r.txnCall(id, machine.InitProducerIDRequest{TransactionalID: id, TimeoutMs: 60000, ProducerID: -1, ProducerEpoch: -1},
		func(p machine.Payload) machine.Code { return p.(machine.InitProducerIDResponse).Error })
	if err != nil {
		return nil, err
	}
	a := p.(machine.InitProducerIDResponse)
	r.txns[id] = &txnReplay{a.ProducerID, a.ProducerEpoch}
	r.lastTxn = id
	if a.Error != machine.NONE {
		return nil, fmt.Errorf("InitProducerId: %v", a.Error)
	}
	return r.txns[id], nil
}

// initTransactional is InitProducerId with a transactional id.
func (r *replay) initTransactional(op Operation, saw json.RawMessage) error {
	if !op.has("txnId") || op.has("producerId") {
		return fmt.Errorf("%w: InitProducerId of an id that the recording does not name", errInexpressible)
	}
	x, err := r.begin(op.str("txnId"))
	if err != nil {
		return err
	}
	var want struct{ Epoch int16 }
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	if x.epoch != want.Epoch {
		return fmt.Errorf("epoch %d, want %d", x.epoch, want.Epoch)
	}
	return nil
}

// produceTxn is one attempt to send a transactional batch (Produce v12).
func (r *replay) produceTxn(op Operation, saw json.RawMessage) error {
	tp, x := r.tp(op), r.txns[op.str("txn")]
	if x == nil {
		return fmt.Errorf("%w: a transactional id that was not initialised", errInexpressible)
	}
	batch := r.batch(op.strs("values"))
	batch.ProducerID, batch.ProducerEpoch, batch.BaseSequence, batch.Transactional = x.pid, int16(op.num("producerEpoch", 0)), int32(op.num("seq", 0)), true
	return compareProduce(r.call(r.leader(tp), r.txnProduce(op.str("txn"), tp, batch)), saw)
}

func (r *replay) txnProduce(id string, tp machine.TopicPartition, batch partlog.Batch) machine.ProduceRequest {
	return machine.ProduceRequest{Acks: -1, TimeoutMs: 4000, TransactionalID: id, Version: machine.TransactionV2, Parts: []machine.ProducePart{{TP: tp, Batch: batch}}}
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
	case strings.Contains(op.str("note"), "other producer id"):
		m.ProducerID += 1000
	case strings.Contains(op.str("note"), "unknown transactional id"):
		m.ID = "nobody"
	case strings.Contains(op.str("note"), "epoch above"):
		m.ProducerEpoch++
	default:
		m.ProducerEpoch = int16(op.num("epoch", 0))
	}
	p, err := r.txnCall(m.ID, m, func(p machine.Payload) machine.Code { return p.(machine.EndTxnResponse).Error })
	if err != nil {
		return err
	}
	a := p.(machine.EndTxnResponse)
	r.run(300 * millis)
	switch {
	case a.Error.String() != want.Error:
		return fmt.Errorf("%v, want %s", a.Error, want.Error)
	case want.SamePid != nil && *want.SamePid != (a.ProducerID == x.pid):
		return fmt.Errorf("producer id %d after %d", a.ProducerID, x.pid)
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
	if a, ok := r.call(r.leader(tp), r.txnProduce(id, tp, batch)).(machine.ProduceResponse); !ok || a.Parts[0].Error != machine.NONE {
		return id, fmt.Errorf("the transaction does not begin: %+v", a)
	}
	if state == "Ongoing" {
		return id, nil
	}
	p, err := r.txnCall(id, machine.EndTxnRequest{ID: id, ProducerID: x.pid, ProducerEpoch: x.epoch, Commit: state == "CompleteCommit", Version: machine.TransactionV2},
		func(p machine.Payload) machine.Code { return p.(machine.EndTxnResponse).Error })
	if err == nil {
		x.epoch = p.(machine.EndTxnResponse).ProducerEpoch
		r.run(300 * millis)
	}
	return id, err
}

// stateRecord is a record of __transaction_state as the recordings have it.
type stateRecord struct {
	State            string   `json:"state"`
	Epoch            int16    `json:"epoch"`
	Partitions       []string `json:"partitions"`
	ClientTxnVersion int8     `json:"clientTxnVersion"`
}

// transactionRecords are the records of a transactional id in __transaction_state.
func (r *replay) transactionRecords(id string) []stateRecord {
	out := []stateRecord{}
	for i := range r.Metadata().Topics {
		if r.Metadata().Topics[i].Name != machine.TransactionStateTopic {
			continue
		}
		tp := machine.TopicPartition{Topic: int32(i)}
		log := &r.replica(r.leader(tp), tp).Log
		log.Batches(0, func(b *partlog.Batch) bool {
			for _, rec := range b.Records.All() {
				if t, ok := r.ReadTransaction(rec); ok && t.ID == id {
					x := stateRecord{t.State.String(), t.ProducerEpoch, []string{}, t.Version}
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
	got := r.transactionRecords(op.str("txnId"))
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		return fmt.Errorf("__transaction_state has\n %s, want\n %s", g, w)
	}
	return nil
}

// isolationViews are a fetch and "latest" under both isolation levels.
func (r *replay) isolationViews(op Operation, saw json.RawMessage) error {
	type level struct {
		HW, LSO *int64
		Records []string
		Aborted []struct{ FirstOffset int64 }
	}
	var want struct {
		RU level                  `json:"read_uncommitted"`
		RC level                  `json:"read_committed"`
		LU struct{ Offset int64 } `json:"latest_ru"`
		LC struct{ Offset int64 } `json:"latest_rc"`
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	r.run(300 * millis)
	tp := r.tp(op)
	for _, x := range []struct {
		committed bool
		want      level
		latest    int64
	}{{false, want.RU, want.LU.Offset}, {true, want.RC, want.LC.Offset}} {
		a := r.call(r.leader(tp), machine.FetchRequest{BrokerEpoch: -1, SessionEpoch: machine.FinalFetchEpoch, MinBytes: 1, MaxBytes: 1 << 20, Committed: x.committed,
			Parts: []machine.FetchPart{{TP: tp, LeaderEpoch: -1, LastFetchedEpoch: -1, LogStartOffset: -1, MaxBytes: 1 << 20}}}).(machine.FetchResponse).Parts[0]
		var records []string
		for i := range a.Batches {
			b := &a.Batches[i]
			if m, ok := b.Marker(); ok {
				records = append(records, fmt.Sprintf("%d:<%s>", b.BaseOffset, map[bool]string{true: "COMMIT", false: "ABORT"}[m.Commit]))
			} else {
				records = append(records, recordsOf(b)...)
			}
		}
		if len(x.want.Records) > 0 { // some were fetched from a later offset on
			if i := slices.Index(records, x.want.Records[0]); i > 0 {
				records = records[i:]
			}
		}
		l := r.call(r.leader(tp), machine.ListOffsetsRequest{Committed: x.committed, Parts: []machine.ListOffsetsPart{{TP: tp, Timestamp: machine.LatestTimestamp, LeaderEpoch: -1}}}).(machine.ListOffsetsResponse).Parts[0]
		switch {
		case !slices.Equal(records, x.want.Records):
			return fmt.Errorf("committed %v: records %v, want %v", x.committed, records, x.want.Records)
		case x.want.HW != nil && a.HighWatermark != *x.want.HW, x.want.LSO != nil && a.LastStable != *x.want.LSO:
			return fmt.Errorf("committed %v: HW %d LSO %d, want %s", x.committed, a.HighWatermark, a.LastStable, saw)
		case len(a.Aborted) != len(x.want.Aborted):
			return fmt.Errorf("aborted %+v, want %+v", a.Aborted, x.want.Aborted)
		case l.Offset != x.latest:
			return fmt.Errorf("committed %v: latest %d, want %d", x.committed, l.Offset, x.latest)
		}
		for i := range a.Aborted {
			if a.Aborted[i].First != x.want.Aborted[i].FirstOffset {
				return fmt.Errorf("aborted %+v, want %+v", a.Aborted, x.want.Aborted)
			}
		}
	}
	return nil
}
