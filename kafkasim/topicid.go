package kafkasim

import (
	"encoding/base64"
	"encoding/binary"

	"kafkalab/kafkasim/prng"
)

// drawTopicID is the purpose of the draws that make topic ids.
const drawTopicID = 0x0a01

// topicID is a topic's id as Kafka prints it: 16 bytes in base64url without padding. It follows from the
// seed and the topic's number; nothing in the simulation depends on it.
func topicID(seed uint64, topic int32) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], prng.Draw(seed, drawTopicID, uint64(topic), 0))
	binary.BigEndian.PutUint64(b[8:], prng.Draw(seed, drawTopicID, uint64(topic), 1))
	b[6] = b[6]&0x0f | 0x40 // a version 4 UUID, as Uuid.randomUuid makes
	b[8] = b[8]&0x3f | 0x80
	return base64.RawURLEncoding.EncodeToString(b[:])
}
