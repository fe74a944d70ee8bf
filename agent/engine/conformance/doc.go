// Package conformance holds one suite of tests that every engine must pass, with its real CLI against the
// scripted provider. It has no code of its own.
//
// `make test` has each CLI answer once. `make sweep` runs the cases of TestRealConformance that no other
// package covers and that take seconds. With TOUCHSTONE_ENGINES=all it runs everything, as in `make engines`.
package conformance
