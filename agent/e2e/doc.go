// Package e2e tests the whole loop: a simulated GitHub over real HTTP and real git, a relay with its store, and
// both agents with a scripted model, all in one process. It contains only tests.
package e2e
