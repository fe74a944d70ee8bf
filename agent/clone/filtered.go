package clone

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"touchstone/worktree"
)

// keepFiltered replaces what git add recorded of files that a filter of the user converts, since no filter runs here.
// Without its filter, a file in Git LFS would be its content, and an encrypted one its text, which a review would send
// to a model. A file in Git LFS gets its pointer, as git-lfs makes it, and an encrypted one stays as it was before.
// Files of other filters are as they are in the working tree.
func (c *Clone) keepFiltered(ctx context.Context, before, after map[string]string) error {
	filters := c.filters(ctx)
	if len(filters) == 0 {
		return nil
	}
	var changed []string
	for path, is := range after {
		if before[path] != is && strings.HasPrefix(is, "100") {
			changed = append(changed, path)
		}
	}
	filterOf, err := c.filterOf(ctx, changed)
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for _, filter := range filterOf {
		used[filter] = filters[filter] && filter != "lfs"
	}
	encrypting, err := c.encrypting(ctx, used, before)
	if err != nil {
		return err
	}
	var info strings.Builder
	for path, filter := range filterOf {
		entry, ok := before[path]
		switch {
		case filter == "lfs" && filters[filter]:
			if entry, err = c.pointer(ctx, path, after[path]); err != nil {
				return err
			}
		case !encrypting[filter]:
			continue
		case !ok:
			entry = "0 " + strings.Repeat("0", len(strings.Fields(after[path])[1])) // no entry
			fallthrough
		default:
			zerolog.Ctx(ctx).Warn().Str("file", path).Str("filter", filter).
				Msg("it is committed encrypted, which is not done here, so changes to it are left out")
		}
		info.WriteString(entry + "\t" + path + "\x00")
	}
	if info.Len() == 0 {
		return nil
	}
	_, err = c.outputOf(ctx, strings.NewReader(info.String()), "update-index", "-z", "--index-info")
	return err
}

// filterOf returns the filters of paths, by path.
func (c *Clone) filterOf(ctx context.Context, paths []string) (map[string]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	out, err := c.outputOf(ctx, strings.NewReader(strings.Join(paths, "\x00")+"\x00"), "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return nil, fmt.Errorf("look for files that a filter converts: %w", err)
	}
	of := map[string]string{}
	f := strings.Split(string(out), "\x00") // path, "filter", value
	for i := 0; i+2 < len(f); i += 3 {
		of[f[i]] = f[i+2]
	}
	return of, nil
}

// maxSamples bounds how many files of a filter are looked at.
const maxSamples = 8

// encrypting returns which of the used filters encrypt. The names of the common ones say so: git-crypt, git-agecrypt, and
// crypt, which is that of transcrypt. Of any other, files that it converted before are compared with the index.
func (c *Clone) encrypting(ctx context.Context, used map[string]bool, before map[string]string) (map[string]bool, error) {
	known, doubtful := map[string]bool{}, map[string]bool{}
	for filter, ok := range used {
		known[filter] = ok && strings.Contains(filter, "crypt")
		if ok && !known[filter] {
			doubtful[filter] = true
		}
	}
	if len(doubtful) == 0 {
		return known, nil
	}
	filterOf, err := c.filterOf(ctx, slices.Sorted(maps.Keys(before)))
	seen := map[string]int{}
	for _, path := range slices.Sorted(maps.Keys(filterOf)) {
		filter := filterOf[path]
		if err != nil || !doubtful[filter] || known[filter] || seen[filter] >= maxSamples || !strings.HasPrefix(before[path], "100") {
			continue
		}
		seen[filter]++
		known[filter], err = c.enciphered(ctx, path, strings.Fields(before[path])[1])
	}
	return known, err
}

// shortest is the length of the shortest text, in bytes, that may be an encrypted one: it begins with a nonce, or ends with a
// tag. A shorter one without a common line was edited, as the number of a version.
const shortest = 16

// enciphered reports whether a file of the index seems to be the encrypted form of that in the working tree: no line of
// one is in the other, apart from white space, or its values are encrypted as SOPS does it, which leaves the keys.
func (c *Clone) enciphered(ctx context.Context, path, blob string) (bool, error) {
	name := filepath.Join(c.Top, filepath.FromSlash(path))
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxLocalFile {
		return false, nil // there is nothing to compare
	}
	working, err := os.ReadFile(name)
	if err != nil {
		return false, err
	}
	recorded, err := c.output(ctx, "cat-file", "blob", blob)
	if err != nil {
		return false, err
	}
	if sealed := []byte("ENC[AES256_GCM,"); bytes.Contains(recorded, sealed) && !bytes.Contains(working, sealed) {
		return true, nil
	}
	lines := map[string]bool{}
	for line := range bytes.Lines(working) {
		lines[string(bytes.TrimSpace(line))] = true
	}
	delete(lines, "")
	for line := range bytes.Lines(recorded) {
		if lines[string(bytes.TrimSpace(line))] {
			return false, nil
		}
	}
	return len(lines) > 0 && len(bytes.TrimSpace(recorded)) >= shortest, nil
}

// filters are the names of the filters that the user, or the clone, configures.
func (c *Clone) filters(ctx context.Context) map[string]bool {
	names := map[string]bool{}
	for key := range strings.SplitSeq(c.setting(ctx, "-z", "--name-only", "--get-regexp", `^filter\..*\.(clean|process)$`), "\x00") {
		if name, ok := strings.CutPrefix(key, "filter."); ok {
			names[name[:strings.LastIndexByte(name, '.')]] = true
		}
	}
	return names
}

// staged are the files of the index, by path: mode, SHA and stage.
func (c *Clone) staged(ctx context.Context) (map[string]string, error) {
	out, err := c.output(ctx, "ls-files", "--stage", "-z", "--full-name")
	files := map[string]string{}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if meta, path, ok := strings.Cut(entry, "\t"); ok && strings.HasSuffix(meta, " 0") {
			files[path] = meta
		}
	}
	return files, err
}

// pointerVersion is the first line of the pointers that Git LFS writes.
const pointerVersion = worktree.LFSPointer + "v1\n"

// pointer returns the entry of a file in Git LFS: that of its pointer, or the recorded entry if the file is one.
func (c *Clone) pointer(ctx context.Context, path, entry string) (_ string, err error) {
	file, err := os.Open(filepath.Join(c.Top, filepath.FromSlash(path)))
	if err != nil {
		return "", err
	}
	defer file.Close() // only read from
	head := make([]byte, len(pointerVersion))
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	sum := sha256.New()
	sum.Write(head[:n])
	size, err := io.Copy(sum, file)
	if size += int64(n); err != nil || size == 0 || size <= worktree.MaxPointer && string(head) == pointerVersion {
		return entry, err // an empty file is its own pointer
	}
	text := fmt.Sprintf("%soid sha256:%s\nsize %d\n", pointerVersion, hex.EncodeToString(sum.Sum(nil)), size)
	sha, err := c.outputOf(ctx, strings.NewReader(text), "hash-object", "-w", "--stdin")
	mode, _, _ := strings.Cut(entry, " ")
	return fmt.Sprintf("%s %s 0", mode, strings.TrimSpace(string(sha))), err
}
