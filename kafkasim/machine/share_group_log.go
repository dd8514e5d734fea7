package machine

import (
	"slices"

	"kafkalab/kafkasim/partlog"
)

// A share group's record in __consumer_offsets.
//
// Kafka: GroupCoordinatorRecordHelpers, GroupMetadataManager.replay. Simplified: a group is one record with all that is
// known of it, under the key of ShareGroupMetadata, where Kafka has a record for each member, target and assignment, and one
// for the partitions with a state (ShareGroupStatePartitionMetadata).

// shareGroupKeyVersion is ShareGroupMetadataKey's number.
const shareGroupKeyVersion = 11

// storeShareGroup writes the group.
func (s *State) storeShareGroup(b *Broker, x *CoordinatorShard, g *ShareGroup, then ShareGroupStored) {
	if code := s.coordinatorAppend(b, x, s.ownBatch(b, shareGroupRecord(g, false)), s.commitTimeout(), then); code != NONE {
		then.Answer = ShareGroupHeartbeatResponse{Error: code}
		s.answerParked(b, &then.Who, then.Answer)
	}
}

// shareGroupRecord is a group's record, or its tombstone.
func shareGroupRecord(g *ShareGroup, gone bool) partlog.Record {
	k, w := recordWriter{}, recordWriter{}
	k.int16(shareGroupKeyVersion)
	k.text(g.ID)
	if gone {
		return partlog.Record{Key: string(k.bytes), Flags: partlog.NullValue}
	}
	w.int16(0)
	w.int32(g.Epoch)
	w.int32(g.AssignmentEpoch)
	w.int64(int64(g.Metadata))
	w.partitions(g.Ready)
	w.length(len(g.Members))
	for i := range g.Members {
		y := &g.Members[i]
		w.text(y.ID)
		w.text(y.ClientID)
		w.int32(y.Epoch)
		w.int32(y.Previous)
		w.texts(y.Topics)
		w.partitions(y.Parts)
		w.partitions(y.Target)
	}
	return partlog.Record{Key: string(k.bytes), Value: string(w.bytes)}
}

func (w *recordWriter) partitions(list []TopicPartition) {
	w.length(len(list))
	for _, tp := range list {
		w.int32(tp.Topic)
		w.int32(tp.Partition)
	}
}

func (r *recordReader) partitions() (out []TopicPartition) {
	for n := r.length(); n > 0 && !r.bad; n-- {
		out = append(out, TopicPartition{r.int32(), r.int32()})
	}
	return out
}

// replayShareGroup takes a group's record over into a shard that is being loaded.
func (x *CoordinatorShard) replayShareGroup(id, value string, gone bool) {
	i, found := x.findShareGroup(id)
	if found {
		x.Share.Groups = slices.Delete(x.Share.Groups, i, i+1)
	}
	if gone {
		return
	}
	r := recordReader{rest: value}
	r.int16()
	g := ShareGroup{ID: id, Epoch: r.int32(), AssignmentEpoch: r.int32(), Metadata: uint64(r.int64()), Ready: r.partitions()}
	for n := r.length(); n > 0 && !r.bad; n-- {
		y := ShareMember{ID: r.text(), ClientID: r.text(), Epoch: r.int32(), Previous: r.int32()}
		for k := r.length(); k > 0 && !r.bad; k-- {
			y.Topics = append(y.Topics, r.text())
		}
		y.Parts, y.Target = r.partitions(), r.partitions()
		g.Members = append(g.Members, y)
	}
	x.Share.Groups = slices.Insert(x.Share.Groups, i, g)
}
