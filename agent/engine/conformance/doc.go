// Package conformance holds one suite of tests that every engine has to pass,
// with its real CLI against the scripted provider. It has no code of its own.
//
// Of the slow CLIs `go test` runs a representative part; with TOUCHSTONE_ENGINES=all
// it runs everything, which is what `make engines` does.
package conformance
