package diff

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	// maxFilePatch bounds the stored patch of one file, in bytes.
	maxFilePatch = 1 << 20
	// maxPatch bounds the stored patches of one diff, in bytes.
	maxPatch = 32 << 20
	// MaxFiles bounds the number of files in a diff.
	MaxFiles = 50_000
)

// Diff is what changed between two commits or trees.
type Diff struct {
	Base, Head string // SHAs; Head is a tree's when the diff is of a working tree
	Files      []File
	// Truncated reports that the Patch of some file was left out or cut, so that readers do not see the whole
	// diff.
	Truncated bool
}

// File is what changed in one file.
type File struct {
	Path    string
	OldPath string // the earlier path; differs from Path when Status is "renamed"
	// Status is "added", "deleted", "modified", "renamed", "mode-changed" (same
	// content, other permissions) or "type-changed" (for instance file to link).
	Status           string
	OldMode, NewMode string // git's octal modes; "000000" for a file that does not exist
	OldBlob, NewBlob string // blob names; all zeros for a file that does not exist
	Added, Deleted   int    // lines, also counted if the patch was cut
	Binary           bool   // git compared it as binary: no hunks
	Submodule        bool   // the commit of a submodule changed
	// Patch is the unified diff as git prints it, headers included: at most 1 MiB, and less if the whole diff
	// exceeds 32 MiB. The pull request's attributes are ignored, so it cannot hide its changes with "-diff".
	Patch     []byte
	Truncated bool // the patch is cut off
	Hunks     []Hunk
}

// ErrTooLarge means that a diff has more than 50,000 files.
var ErrTooLarge = errors.New("the diff is too large")

// ErrFormat means that git's output does not match its documentation. Guessing could show a reviewer the
// wrong file's changes.
var ErrFormat = errors.New("git printed a diff in an unknown format")

// Parse reads the output of "git diff-tree -z --raw --patch": first one raw entry for each file, with its
// unquoted path; then the patches in the same order, whose quoted paths are not needed. See
// https://git-scm.com/docs/diff-format.
func Parse(r io.Reader) (Diff, error) {
	p := patchParser{in: bufio.NewReaderSize(r, 64<<10)}
	if err := p.rawEntries(); err != nil {
		return Diff{}, err
	}
	if err := p.patches(); err != nil {
		return Diff{}, err
	}
	return p.diff, nil
}

type patchParser struct {
	in   *bufio.Reader
	diff Diff
	kept int // bytes of patches stored so far

	sections []int // for each of the following patches, the index of its file
	file     *File
	walk     Walker
}

// rawEntries reads entries such as ":100644 100755 SHA SHA R086 NUL old NUL new NUL", up to the empty field
// before the patches, or to the end.
func (p *patchParser) rawEntries() error {
	for {
		meta, err := p.field()
		if errors.Is(err, io.EOF) || err == nil && meta == "" {
			return nil
		}
		if err != nil {
			return err
		}
		f := strings.Fields(meta)
		if len(f) != 5 || !strings.HasPrefix(f[0], ":") || f[4] == "" {
			return ErrFormat
		}
		if len(p.diff.Files) == MaxFiles {
			return fmt.Errorf("%w: more than %d files", ErrTooLarge, MaxFiles)
		}
		file := File{OldMode: f[0][1:], NewMode: f[1], OldBlob: f[2], NewBlob: f[3], Submodule: f[0] == ":160000" || f[1] == "160000"}
		if file.OldPath, err = p.field(); err != nil {
			return ErrFormat
		}
		file.Path = file.OldPath
		sections := 1
		switch f[4][0] {
		case 'A':
			file.Status = "added"
		case 'D':
			file.Status = "deleted"
		case 'M':
			file.Status = "modified"
			if f[2] == f[3] {
				file.Status = "mode-changed"
			}
		case 'R':
			file.Status = "renamed"
			if file.Path, err = p.field(); err != nil {
				return ErrFormat
			}
		case 'T':
			file.Status = "type-changed"
			sections = 2 // the old type deleted, the new one added
		default:
			return ErrFormat
		}
		for range sections {
			p.sections = append(p.sections, len(p.diff.Files))
		}
		p.diff.Files = append(p.diff.Files, file)
	}
}

// field reads up to a NUL. An end of input within a field is an error.
func (p *patchParser) field() (string, error) {
	b, err := p.in.ReadBytes(0)
	if errors.Is(err, io.EOF) && len(b) > 0 {
		return "", ErrFormat
	}
	if err != nil {
		return "", err
	}
	return string(b[:len(b)-1]), nil
}

// patches reads the unified diffs to the end of the input. A line may be of any length.
func (p *patchParser) patches() error {
	for start := true; ; {
		chunk, err := p.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF) {
			return err
		}
		if start && len(chunk) > 0 {
			if err := p.beginLine(chunk); err != nil {
				return err
			}
		}
		p.keep(chunk)
		start = err == nil
		if errors.Is(err, io.EOF) {
			if len(p.sections) > 0 || p.walk.Inside() {
				return ErrFormat
			}
			return nil
		}
	}
}

// beginLine classifies a line. The counts in a hunk's header determine its length, so that no content is
// mistaken for a header.
func (p *patchParser) beginLine(line []byte) error {
	inside := p.walk.Inside()
	switch l := p.walk.Next(line); {
	case l.Sign == '@' && p.file != nil && !inside:
		p.file.Hunks = append(p.file.Hunks, l.Hunk)
		return nil
	case l.Sign == '+':
		p.file.Added++
		return nil
	case l.Sign == '-':
		p.file.Deleted++
		return nil
	case l.Sign == ' ', l.Sign == '\\' && inside: // such as "\ No newline at end of file"
		return nil
	case inside:
		return ErrFormat
	}
	if bytes.HasPrefix(line, []byte("diff --git ")) {
		if len(p.sections) == 0 {
			return ErrFormat
		}
		p.file = &p.diff.Files[p.sections[0]]
		p.sections = p.sections[1:]
		return nil
	}
	if p.file == nil {
		return ErrFormat
	}
	switch {
	case bytes.HasPrefix(line, []byte("@@ ")):
		return ErrFormat
	case bytes.HasPrefix(line, []byte("Binary files ")):
		p.file.Binary = true
	}
	return nil
}

// keep appends to the file's patch within the bounds, and sets Truncated when it cannot.
func (p *patchParser) keep(chunk []byte) {
	if p.file == nil || len(chunk) == 0 {
		return
	}
	n := max(0, min(len(chunk), maxFilePatch-len(p.file.Patch), maxPatch-p.kept))
	if p.file.Truncated {
		n = 0
	}
	p.file.Patch = append(p.file.Patch, chunk[:n]...)
	p.kept += n
	if n < len(chunk) {
		p.file.Truncated, p.diff.Truncated = true, true
	}
}
