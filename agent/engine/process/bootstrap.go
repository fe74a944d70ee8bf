package process

// A program that was started by itself, as the reaper over a session, is that before it prepares
// what it needs as anything else; see package sandbox. All others keep the descriptors that they were
// started with, beyond the standard three, from their children.
func init() {
	reap()
	keepDescriptors(3)
}
