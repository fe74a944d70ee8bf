package change

import (
	"bytes"
	"os"
	"path"
	"slices"

	"touchstone/guidelines"
	"touchstone/worktree/diff"
	"touchstone/worktree/lazyregexp"
)

var (
	minified  = lazyregexp.New(`[.-]min\.(?:[cm]?js|css)$`)
	sourceMap = lazyregexp.New(`\.(?:[cm]?js|css)\.map$`)

	migrations = scope("migration")
)

const (
	// minifiedLine is longer than any line that people write, in bytes.
	minifiedLine = 500
	// few is the number of changed lines up to which a vendored file is read: it costs next to nothing, and
	// changes by hand are small.
	few = 20
)

func scope(text string) guidelines.Scope {
	s, err := guidelines.Compile(text)
	if err != nil {
		panic(err) // the text is a constant of this package
	}
	return s
}

// about reports whether a scope applies to a file.
func about(s guidelines.Scope, f diff.File) bool {
	applies, _ := s.Applies(asChange(f))
	return applies
}

func asChange(files ...diff.File) guidelines.Change {
	var c guidelines.Change
	for _, f := range files {
		c.Files = append(c.Files, guidelines.File{Path: f.Path, OldPath: f.OldPath, Patch: f.Patch, Truncated: f.Truncated})
	}
	return c
}

// sift separates the files that need no reading from the others. If there are no others, it keeps them, since
// there is nothing else to review.
func sift(s Source, checkout *os.Root) Change {
	e := gather(s.Diff.Files)
	reasons := make([]string, len(s.Diff.Files))
	for i, f := range s.Diff.Files {
		reason := e.noise(f, checkout)
		if reason == "" && about(s.Skip, f) {
			reason = "skipped by the repository's configuration"
		}
		if reason != "" && plain(f) && !about(migrations, f) {
			reasons[i] = reason
		}
	}
	var c Change
	nothingElse := !slices.Contains(reasons, "")
	for i, f := range s.Diff.Files {
		if reasons[i] == "" || nothingElse {
			c.Files = append(c.Files, File{File: f, Note: note(f)})
		} else {
			c.LeftOut = append(c.LeftOut, LeftOut{f, reasons[i]})
		}
	}
	return c
}

// noise returns the reason why a file needs no reading, or "". It trusts neither a name nor a heading, since an
// author can give code the name of a file that is not read. What a generator wrote is read like any other file:
// code cannot tell it from what somebody wrote into it by hand. Of 3,994 changes in 100 public repositories, five
// have such files of more than a few lines beside their source, and all five fill several parts without them.
func (e evidence) noise(f diff.File, checkout *os.Root) string {
	base := path.Base(f.Path)
	switch {
	case isLock(f, lockFormats[base], checkout):
		return "lock file"
	case sourceMap.MatchString(base) && isMap(f):
		return "source map"
	case minified.MatchString(base) && longLines(f.Patch) && e.minifies(f, checkout):
		return "minified, and its source is in the change"
	case f.Added+f.Deleted > few && e.requires(f.Path):
		return "vendored, and the change is one of this dependency"
	}
	return ""
}

// isMap reports whether a file's changed lines are the data of a source map.
func isMap(f diff.File) bool {
	for line := range changedLines(f.Patch) {
		if !data.Match(bytes.TrimSuffix(line, []byte("\r"))) {
			return false
		}
	}
	return !f.Truncated && bytes.Contains(f.Patch, []byte(`"mappings"`))
}

// data is a line of JSON.
var data = lazyregexp.New(`^` + jsonTokens + `$`)

// plain reports whether a file is a regular file on both sides with the same permissions. Anything else, such
// as a link, is always shown.
func plain(f diff.File) bool {
	regular := func(mode string) bool { return mode == "100644" || mode == "100755" || mode == "000000" }
	same := f.OldMode == f.NewMode || f.OldMode == "000000" && f.NewMode == "100644" || f.NewMode == "000000"
	return same && regular(f.OldMode) && regular(f.NewMode)
}

// longLines reports whether all changed lines that are not empty are longer than people write, except for a
// few at the ends of the file.
func longLines(patch []byte) bool {
	var long, other int
	for line := range changedLines(patch) {
		if len(line) >= minifiedLine {
			long += len(line)
		} else {
			other += len(line)
		}
	}
	return long > 0 && other < minifiedLine
}
