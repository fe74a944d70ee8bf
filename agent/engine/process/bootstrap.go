package process

import "touchstone/agent/engine/sandbox"

// Bootstrap must be the first call in main of every program that runs a Command, before it reads its
// arguments or opens a file. If the program was started by itself, as the reaper of a session or to enter a
// sandbox, Bootstrap does that and does not return. Otherwise it makes sure that no child inherits the file
// descriptors, beyond the standard three, that this program was started with. Without it, no Command starts.
func Bootstrap() {
	reap()
	sandbox.Bootstrap()
	keepDescriptors(3)
	bootstrapped = true
}

// bootstrapped says that main has called Bootstrap. A program that has not would run its own main where the
// reaper should run.
var bootstrapped bool
