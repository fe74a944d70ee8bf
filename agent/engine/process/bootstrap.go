package process

import "touchstone/agent/engine/sandbox"

// Bootstrap is the first call of every program that runs a Command, before it reads its
// arguments or opens a file. Where the program was started by itself, as the reaper over a
// session or to confine what it then becomes, Bootstrap does that and does not return.
// Otherwise it keeps the descriptors that this program was started with, beyond the standard
// three, from all its children. Without it, no Command starts.
func Bootstrap() {
	reap()
	sandbox.Bootstrap()
	keepDescriptors(3)
	bootstrapped = true
}

// bootstrapped says that main has called Bootstrap: a program that has not would run anew where
// a reaper is meant.
var bootstrapped bool
