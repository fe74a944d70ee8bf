// Package conformance holds one suite of tests that every engine has to pass,
// with its real CLI against the scripted provider. It has no code of its own.
//
// `go test` leaves out the cases that mostly wait, and of a CLI that is slow to start
// all but a representative part; with TOUCHSTONE_ENGINES=all it runs everything,
// which is what `make engines` does.
package conformance
