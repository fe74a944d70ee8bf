package change

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"touchstone/worktree/diff"
	"touchstone/worktree/filekind"
	"touchstone/worktree/lazyregexp"
)

var (
	dependencies = scope("dependencies")
	script       = lazyregexp.New(`\.(?:[cm]?[jt]sx?|css|s[ac]ss|less)$`)
	// naming matches what could be the name of a package or a file in a text.
	naming = lazyregexp.New(`[\w@./-]+`)
	// remarks matches a comment of a manifest, up to the line's end.
	remarks = lazyregexp.New(`(?:^|\s)(?:#|//).*`)
)

// goFiles are the files that all change with a vendored Go module (https://go.dev/ref/mod#vendoring).
var goFiles = []string{"go.mod", "go.sum", "modules.txt"}

// maxSource limits how much of a source of other files is read, in bytes.
const maxSource = 4 << 20

// evidence is what vendored and minified files of the change can come from.
type evidence struct {
	// required are the words in changed lines of manifests and lock files.
	required map[string]bool
	// scripts are the changed files that can be minified, by their names without extension.
	scripts map[string]string
}

func gather(files []diff.File) evidence {
	e := evidence{required: map[string]bool{}, scripts: map[string]string{}}
	modules := map[string]int{} // by the bits of the goFiles that name the module
	for _, f := range files {
		base := path.Base(f.Path)
		_, vendored := filekind.Vendored(f.Path)
		switch of := slices.Index(goFiles, base); {
		case f.Status == "deleted":
		case of >= 0 && (base != "modules.txt" || vendored):
			for word := range versioned(f) {
				modules[word] |= 1 << of
				e.required[word] = modules[word] == 1<<len(goFiles)-1
			}
		case vendored:
		case about(dependencies, diff.File{Path: f.Path}) || filekind.Lock(base) || base == ".yarnrc.yml":
			for word := range versioned(f) {
				e.required[word] = true
			}
		case script.MatchString(base) && !minified.MatchString(base):
			e.scripts[stem(base)] = f.Path
		}
	}
	return e
}

// versioned returns the words in those changed lines of a manifest or a lock file that contain a version.
func versioned(f diff.File) map[string]bool {
	words := map[string]bool{}
	for line := range changedLines(f.Patch) {
		if path.Base(f.Path) != "modules.txt" { // Go's comments there say the versions
			line = []byte(remarks.ReplaceAllString(string(line), ""))
		}
		if !bytes.ContainsAny(line, "0123456789") {
			continue
		}
		for _, word := range naming.FindAll(line, -1) {
			words[string(word)] = true
		}
	}
	return words
}

// requires reports whether a file is vendored, and a manifest or a lock file changes the version of the package to which
// it belongs.
func (e evidence) requires(name string) bool {
	inside, ok := filekind.Vendored(name)
	if ok && e.required[name] {
		return true // a release of the package manager itself
	}
	const deepest = 5 // segments of a module's path, including its version
	parts := strings.Split(inside, "/")
	for n := 1; n < len(parts) && n <= deepest; n++ {
		if e.required[strings.Join(parts[:n], "/")] {
			return true
		}
	}
	return false
}

// minifies reports whether a minified file contains only long names and strings that its source in the
// change, or its previous version, contains too.
func (e evidence) minifies(f diff.File, checkout *os.Root) bool {
	base := path.Base(f.Path)
	source, ok := e.scripts[strings.TrimRight(base[:minified.FindStringIndex(base)[0]], ".-")]
	if !ok || f.Truncated {
		return false
	}
	text, err := read(checkout, source, maxSource)
	if err != nil {
		return false
	}
	known := map[string]bool{}
	for _, word := range telling.FindAll(text, -1) {
		known[string(word)] = true
	}
	for line := range diff.Signed(f.Patch, '-') {
		for _, word := range telling.FindAll(line, -1) {
			known[string(word)] = true
		}
	}
	for line := range diff.Signed(f.Patch, '+') {
		if bytes.Contains(line, []byte(`\x`)) || bytes.Contains(line, []byte(`\u`)) { // letters of a word can be written so
			return false
		}
		for _, word := range telling.FindAll(line, -1) {
			if !known[string(word)] {
				return false
			}
		}
	}
	return true
}

// telling matches a word that is too long for a shortened name.
var telling = lazyregexp.New(`[A-Za-z_]{4,}`)

// errLong means that only the beginning of the file was read.
var errLong = errors.New("the file is longer")

// read reads the beginning of a regular file in the checkout.
func read(checkout *os.Root, name string, most int64) ([]byte, error) {
	if info, err := checkout.Lstat(name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	file, err := checkout.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		text, err = text[:most], errLong
	}
	return text, err
}
