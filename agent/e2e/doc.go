// Package e2e holds the tests of the whole loop: a simulated GitHub over real
// HTTP and real git, a relay with its store, and both agents with a scripted
// model, all in one process. There is no code here but tests.
package e2e
