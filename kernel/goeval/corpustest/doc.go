// Package corpustest compares what Go programs print as cells with what they print compiled.
//
// The programs of kernel/goeval/testdata/corpus carry what they printed when they were compiled; they run
// in every test, each as one cell and again taken apart into many. Two larger collections that are not
// ours run on request, each program in a process of its own:
//
//	go test ./kernel/goeval/corpustest -corpus yaegi,go -v -timeout 60m
//
// yaegi's own test programs are read from the module cache, those of the Go distribution from GOROOT.
// New programs of ours are recorded by compiling them:
//
//	go test ./kernel/goeval/corpustest -record new    (or: all, or a part of a name)
package corpustest
