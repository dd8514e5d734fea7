// Package zmq carries a kernel's messages over ZeroMQ: five sockets of go-zeromq/zmq4 behind a guarded
// transport of our own.
//
// zmq4 v0.17 trusts its peers: one that connects and stays silent blocks everybody else's handshake,
// one that does not read stalls the others' output, a frame header may claim any size, and closing
// loses what is on its way. The guard stands between zmq4 and the network (registered by
// zmq4.RegisterTransport) and takes all of that away:
//
//   - a connection reaches zmq4 only after it has shaken hands, within a deadline (handshake.go);
//   - what comes in is read message by message, capped before memory is asked for (frames.go);
//   - what goes out waits in a queue per connection with a cap, whose owner is cut off alone (queue.go);
//   - subscriptions are seen as they pass, which is where iopub_welcome comes from (peer.go);
//   - closing waits until the queues are empty, for a while (server.go).
package zmq
