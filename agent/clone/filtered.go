package clone

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	var changed bytes.Buffer
	for path, is := range after {
		if before[path] != is && strings.HasPrefix(is, "100") {
			changed.WriteString(path + "\x00")
		}
	}
	out, err := c.outputOf(ctx, &changed, "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return fmt.Errorf("look for files that a filter converts: %w", err)
	}
	var info strings.Builder
	f := strings.Split(string(out), "\x00") // path, "filter", value
	for i := 0; i+2 < len(f); i += 3 {
		path, filter := f[i], f[i+2]
		entry, ok := before[path]
		switch {
		case !filters[filter]:
			continue
		case filter == "lfs":
			if entry, err = c.pointer(ctx, path, after[path]); err != nil {
				return err
			}
		case !strings.Contains(filter, "crypt"): // git-crypt and git-agecrypt; that of transcrypt is called crypt
			continue
		case !ok:
			entry = "0 " + strings.Repeat("0", len(strings.Fields(after[path])[1])) // no entry
			fallthrough
		default:
			zerolog.Ctx(ctx).Warn().Str("file", path).Msg("it is committed encrypted, which is not done here, so changes to it are left out")
		}
		info.WriteString(entry + "\t" + path + "\x00")
	}
	if info.Len() == 0 {
		return nil
	}
	_, err = c.outputOf(ctx, strings.NewReader(info.String()), "update-index", "-z", "--index-info")
	return err
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
