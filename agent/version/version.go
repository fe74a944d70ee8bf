// Package version knows the version of this program.
package version

import "touchstone/worktree/build"

// Build is the version, the commit and its date, and what it was built with and for.
func Build() string { return build.String() }

// String is the version.
func String() string { return build.Version() }
