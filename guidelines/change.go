package guidelines

import "strconv"

// Change is the input for deciding a scope: the diff under review and what people said about it. All of it
// may come from strangers.
type Change struct {
	Files []File
	Title string // of the pull request, or of its only commit
	Body  string
	// Branch is the name of the head branch, without refs/heads/.
	Branch string
	// Labels are the labels of the pull request and of the issues that it closes.
	Labels []string
	// Commits are the messages of the change's own commits.
	Commits []string
	// Round is the number of this review of the change, starting at 1.
	Round int
}

// File is one changed file. Its paths are slash-separated and relative to the
// repository's root.
type File struct {
	Path    string
	OldPath string // its earlier path, if that differs from Path
	// Patch is the unified diff as git prints it, headers included; empty for a
	// binary file.
	Patch []byte
	// Truncated says that Patch is cut off, so that predicates over changed lines do not see all of them.
	Truncated bool
}

// paths returns the names against which a scope is matched.
func (f File) paths() []string {
	if f.OldPath == "" || f.OldPath == f.Path {
		return []string{f.Path}
	}
	return []string{f.Path, f.OldPath}
}

// spell writes a path on one line: unchanged, or quoted if it contains anything that a reader or a terminal
// could mistake for more than a path.
func spell(path string) string {
	if quoted := strconv.Quote(path); quoted != `"`+path+`"` {
		return quoted
	}
	return path
}
