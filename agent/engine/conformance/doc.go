// Package conformance holds one suite of tests that every engine has to pass,
// with its real CLI against the scripted provider. It has no code of its own.
//
// `make test` has each CLI answer once, `make sweep` runs the cases of TestRealConformance that no other
// package shows and that take seconds; with TOUCHSTONE_ENGINES=all it runs everything, which is what
// `make engines` does.
package conformance
