// Package kernel is the Jupyter message handler: it answers every message of protocol 5.5 for one
// Language, and knows neither sockets (kernel/zmq) nor Kafka.
package kernel
