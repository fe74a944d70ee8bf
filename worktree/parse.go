package worktree

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"touchstone/worktree/diff"
)

// errDiffFormat means that git printed something other than its documentation
// says. Guessing on would show a reviewer the wrong file's changes.
var errDiffFormat = errors.New("git printed a diff in an unknown format")

// parseDiff reads what "git diff-tree -z --raw --patch" prints: first one raw
// entry for each file, with the path as it is; then the patches in the same order,
// whose quoted paths are not needed.
// See https://git-scm.com/docs/diff-format.
func parseDiff(r io.Reader) (Diff, error) {
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
	kept int // bytes of patch kept so far

	sections []int // for each patch to come, the index of its file
	file     *FileDiff
	walk     diff.Walker
}

// rawEntries reads ":100644 100755 SHA SHA R086 NUL old NUL new NUL" and its kin,
// up to the empty field before the patches, or the end.
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
			return errDiffFormat
		}
		if len(p.diff.Files) == maxDiffFiles {
			return fmt.Errorf("more than %d files: %w", maxDiffFiles, ErrTooLarge)
		}
		file := FileDiff{OldMode: f[0][1:], NewMode: f[1], OldBlob: f[2], NewBlob: f[3], Submodule: f[0] == ":160000" || f[1] == "160000"}
		if file.OldPath, err = p.field(); err != nil {
			return errDiffFormat
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
				return errDiffFormat
			}
		case 'T':
			file.Status = "type-changed"
			sections = 2 // the old type deleted, the new one added
		default:
			return errDiffFormat
		}
		for range sections {
			p.sections = append(p.sections, len(p.diff.Files))
		}
		p.diff.Files = append(p.diff.Files, file)
	}
}

// field reads up to a NUL. An end in the middle of a field is an error.
func (p *patchParser) field() (string, error) {
	b, err := p.in.ReadBytes(0)
	if errors.Is(err, io.EOF) && len(b) > 0 {
		return "", errDiffFormat
	}
	if err != nil {
		return "", err
	}
	return string(b[:len(b)-1]), nil
}

// patches reads the unified diffs to the end. A line may be of any length.
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
				return errDiffFormat
			}
			return nil
		}
	}
}

// beginLine decides what a line is. Within a hunk the counts of its header say
// how far it reaches, so that no content can pass for a header.
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
		return errDiffFormat
	}
	if bytes.HasPrefix(line, []byte("diff --git ")) {
		if len(p.sections) == 0 {
			return errDiffFormat
		}
		p.file = &p.diff.Files[p.sections[0]]
		p.sections = p.sections[1:]
		return nil
	}
	if p.file == nil {
		return errDiffFormat
	}
	switch {
	case bytes.HasPrefix(line, []byte("@@ ")):
		return errDiffFormat
	case bytes.HasPrefix(line, []byte("Binary files ")):
		p.file.Binary = true
	}
	return nil
}

// keep appends to the file's patch within the bounds, and says so when it cannot.
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

func splitNames(out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
