package kafkasim

import "kafkalab/kafkasim/machine"

// drawTopicID is the purpose of the draws that make topic ids.
const drawTopicID = 0x0a01

// topicID is a topic's id as Kafka prints it: 16 bytes in base64url without padding. It follows from the
// seed and the topic's number; nothing in the simulation depends on it.
func topicID(seed uint64, topic int32) string {
	return machine.UUID(seed, drawTopicID, uint64(topic))
}
