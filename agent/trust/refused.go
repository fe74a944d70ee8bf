package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// refusedDir is the directory in the state directory with the refused words: an empty file for each word, in
// a directory for each pull request, so that several processes may use it at once.
const refusedDir = "refused"

// CommentWord is the name of a comment on the conversation among its pull request's words, by GitHub's number
// for the comment.
func CommentWord(id int64) string { return fmt.Sprintf("comment-%d", id) }

// ReviewWord is CommentWord for a review.
func ReviewWord(id int64) string { return fmt.Sprintf("review-%d", id) }

// Refuse records words of a pull request that their authors had no permission to give, and returns all words
// ever recorded for it. pull is the pull request's number among those of all repositories.
func (b *Book) Refuse(pull int64, words []string) (map[string]bool, error) {
	all := map[string]bool{}
	if b == nil {
		for _, word := range words {
			all[word] = true
		}
		return all, nil
	}
	entries, err := os.ReadDir(b.refused(pull))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, entry := range entries {
		all[entry.Name()] = true
	}
	words = slices.DeleteFunc(words, func(word string) bool { return all[word] })
	if err == nil && len(words) > 0 {
		err = os.MkdirAll(b.refused(pull), 0o700)
	}
	for _, word := range words {
		all[word] = true
		if err == nil {
			err = os.WriteFile(filepath.Join(b.refused(pull), word), nil, 0o600)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("record whose orders are ignored: %w; make %s readable and writable", err, filepath.Dir(b.path))
	}
	return all, nil
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
