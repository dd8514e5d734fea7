package oracle

import (
	"encoding/json"
	"fmt"

	"kafkalab/kafkasim/machine"
)

func init() {
	operations["cutLogTail"] = (*replay).cutLogTail
	operations["deletePartitionDirectory"] = (*replay).deletePartitionDirectory
	operations["wipeDiskAndFormat"] = (*replay).wipeDisk
	operations["recordsOrder"] = (*replay).skip // the partition's records are compared by metadataHistory
	operations["brokerLogLines"] = (*replay).skip
	operations["produceAtLeader"] = (*replay).produceAtLeader
}

// cutLogTail leaves a dead broker the first batches of its log: what a power loss may do. Bytes of a batch
// that is not whole count for nothing.
func (r *replay) cutLogTail(op Operation, saw json.RawMessage) error {
	id, tp := machine.NodeID(op.num("broker", 0)), r.tp(op)
	keep := op.num("keepBatches", 0)
	if op.num("extraBytesOfNextBatch", 0) >= 70 {
		keep++ // every batch of these recordings has 70 bytes: the next one is whole
	}
	r.Apply(machine.LoseReplica{Broker: id, TP: tp, Keep: int32(keep)})
	var want struct{ LEO *int64 }
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	if rep := r.replica(int(id), tp); want.LEO != nil && rep.Log.End != *want.LEO {
		return fmt.Errorf("log end %d, want %d", rep.Log.End, *want.LEO)
	}
	return nil
}

func (r *replay) deletePartitionDirectory(op Operation, _ json.RawMessage) error {
	r.Apply(machine.LoseReplica{Broker: machine.NodeID(op.num("broker", 0)), TP: r.tp(op), Keep: -1})
	return nil
}

func (r *replay) wipeDisk(op Operation, _ json.RawMessage) error {
	r.Apply(machine.LoseDisk{Broker: machine.NodeID(op.num("broker", 0))})
	return nil
}

// produceAtLeader sends to whoever leads.
func (r *replay) produceAtLeader(op Operation, saw json.RawMessage) error {
	tp := r.tp(op)
	values := op.strs("values")
	if len(values) == 0 {
		values = []string{"n"} // the recorder's own, as the next dump shows
	}
	return r.produceTo(r.leader(tp), tp, -1, 4000, values, saw)
}

// raceSeeds are seeds under which a race goes as it went in a recording: whether a replaced disk's directory
// was assigned before or after its broker was unfenced (ba5), or who won an election (ae1).
var raceSeeds = map[string]uint64{
	"ba5-disk-replaced-dir-assigned-before-unfence": 5,
	"ba5-disk-replaced-dir-assigned-after-unfence":  2,
	"ae1-quorum-follower-stopped-v3.9.2":            2,
}
