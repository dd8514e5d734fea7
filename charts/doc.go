// Package charts draws pictures of a simulated cluster: the brokers with their logs (Cluster), what
// happened frame by frame (Replay), and curves over time (HighWatermark, ISRSize, Lag). It reads
// kafkasim/view and nothing else, so a chart cannot step the simulation.
//
// Every picture is a value with MIMEBundle and MIMEMetadata: one display holding the closed chart spec
// of SCHEMA.md (drawn live by the browser script), a PNG for every other place, and a sentence.
package charts
