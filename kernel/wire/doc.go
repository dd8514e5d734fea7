// Package wire is the Jupyter wire protocol below any socket: messages, their frames, the HMAC that
// signs them, and the connection file that says where and with which key they travel.
//
// Source: jupyter_client, "Messaging in Jupyter" (the wire protocol) and "Making kernels for Jupyter"
// (connection files). The package uses the standard library only.
package wire
