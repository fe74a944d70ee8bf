package process

// keepDescriptors does nothing: on Windows a child only inherits the handles that it is given.
func keepDescriptors(int) {}

// reap does nothing: here the reaper is a job object.
func reap() {}
