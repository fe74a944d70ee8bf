package sandbox

// Profile is the profile for macOS, whose text is the same on all platforms.
func Profile(r Rules) string { return profile(r) }
