package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"touchstone/worktree/atomicfile"
)

// refusedDir is the directory in the state directory with the refused words: an empty file for each word, in
// a directory for each pull request, so that several processes may use it at once.
const refusedDir = "refused"

// CommentWord is the name of a comment on the conversation among its pull request's words, by GitHub's number
// for the comment.
func CommentWord(id int64) string { return fmt.Sprintf("comment-%d", id) }

// ReviewWord is CommentWord for a review.
func ReviewWord(id int64) string { return fmt.Sprintf("review-%d", id) }

// Refused returns the words of a pull request that were ever recorded as refused. pull is the pull request's
// number among those of all repositories.
func (b *Book) Refused(pull int64) (map[string]bool, error) {
	all := map[string]bool{}
	if b == nil {
		return all, nil
	}
	entries, err := os.ReadDir(b.refused(pull))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, b.unusable(err)
	}
	for _, entry := range entries {
		all[entry.Name()] = true
	}
	return all, nil
}

// Refuse records words of a pull request that their authors had no permission to give. Those that are recorded
// already cost nothing.
func (b *Book) Refuse(pull int64, words map[string]bool) error {
	known, err := b.Refused(pull)
	if b == nil || err != nil {
		return err
	}
	dir := b.refused(pull)
	for word := range words {
		if known[word] {
			continue
		}
		err = os.MkdirAll(dir, 0o700)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, word), nil, 0o600)
		}
		// Once its author has the permission, nothing else shows that the word came before it.
		for _, changed := range []string{dir, filepath.Dir(dir), filepath.Dir(b.path)} {
			if err == nil {
				err = atomicfile.SyncDir(changed)
			}
		}
		if err != nil {
			return b.unusable(err)
		}
	}
	return nil
}

func (b *Book) unusable(err error) error {
	return fmt.Errorf("record whose orders are ignored: %w; make %s readable and writable", err, filepath.Dir(b.path))
}

// Forget deletes the record of refused words of a pull request.
func (b *Book) Forget(pull int64) error {
	if b == nil {
		return nil
	}
	return os.RemoveAll(b.refused(pull))
}

func (b *Book) refused(pull int64) string {
	return filepath.Join(filepath.Dir(b.path), refusedDir, strconv.FormatInt(pull, 10))
}
