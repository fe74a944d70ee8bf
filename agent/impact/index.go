package impact

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"touchstone/worktree"
)

const (
	// maxFile bounds the files that are searched, in bytes: larger ones are data.
	maxFile = 1 << 20
	// maxFiles bounds their number.
	maxFiles = 100_000
	// maxIndex bounds the index in bytes.
	maxIndex = 512 << 20
	// enough is how many contents have to be new before the index is written anew.
	enough = 100
)

// passed are the files in which nobody looks for a use: what others wrote, what programs
// wrote, what tells of the past, and what is no text.
var passed = regexp.MustCompile(`(?i)(?:^|/)(?:vendor|node_modules|bower_components|third_party|Pods|changelogs?)/|(?:^|/)(?:changelog|changes|history|news)(?:\.\w+)?$|` +
	`\.(?:lock|sum|map|snap|svg|png|jpe?g|gif|ico|webp|pdf|zip|gz|tgz|jar|woff2?|ttf|eot|mp[34]|wasm|bin|so|a|dll|exe|class|pyc|csv|po|pb\.go)$|` +
	`[.-]min\.(?:js|css)$|(?:^|/)(?:package-lock\.json|go\.sum|pnpm-lock\.yaml|yarn\.lock)$`)

// IndexName is how the index of a repository is called beside its mirror.
const IndexName = "impact.words"

// index tells which words each file of a commit holds.
type index struct {
	entries []worktree.Entry
	words   [][]word // of each entry; nil for what was not searched
	long    int      // how many files are too long
}

// readIndex makes the index of a commit. What it learns of contents it keeps at path, by git's
// names of them, so that only what is new is read next time; an empty path keeps nothing. A
// kept index that is damaged is made anew.
func readIndex(ctx context.Context, files Files, rev, path string) (x index, left int, err error) {
	all, err := files.List(ctx, rev)
	if err != nil {
		return x, 0, err
	}
	for _, e := range all {
		if !passed.MatchString(e.Path) {
			x.entries = append(x.entries, e)
		}
	}
	if left = max(0, len(x.entries)-maxFiles); left > 0 {
		x.entries = x.entries[:maxFiles]
	}
	kept := load(path)
	x.words = make([][]word, len(x.entries))
	var fresh []string
	var at []int
	for i, e := range x.entries {
		if w, ok := kept[e.Blob]; ok {
			x.words[i] = w
			continue
		}
		fresh, at = append(fresh, e.Blob), append(at, i)
	}
	var space []word
	err = files.Blobs(ctx, fresh, maxFile, func(i int, content []byte) {
		words := []word{}
		if content != nil && !binaryText(content) {
			space = wordsOf(content, space)
			words = slices.Clone(space)
		}
		x.words[at[i]] = words
		if content == nil {
			x.long++
		}
	})
	if err != nil {
		return x, left, err
	}
	if path != "" && len(fresh) >= enough {
		// An index that cannot be kept costs time at the next review, and nothing else.
		_ = x.save(path)
	}
	return x, left, nil
}

// binaryText reports whether a content is no text, as git decides it.
func binaryText(content []byte) bool {
	return slices.Contains(content[:min(len(content), 8000)], 0)
}

// The index's file: magic, the checksum of what follows, and of each content its name, the
// number of its words and these.
const magic = "touchstone words 1\n"

func (x index) save(path string) error {
	out := make([]byte, len(magic)+4)
	copy(out, magic)
	for i, e := range x.entries {
		name, err := hex.DecodeString(e.Blob)
		if err != nil || len(out) > maxIndex {
			return errors.Join(err, fmt.Errorf("an index of %d files", len(x.entries)))
		}
		out = append(append(out, byte(len(name))), name...)
		out = binary.LittleEndian.AppendUint32(out, uint32(len(x.words[i])))
		for _, w := range x.words[i] {
			out = binary.LittleEndian.AppendUint32(out, uint32(w))
		}
	}
	binary.LittleEndian.PutUint32(out[len(magic):], crc32.ChecksumIEEE(out[len(magic)+4:]))
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(out)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}

// load reads a kept index; nothing where there is none that is whole.
func load(path string) map[string][]word {
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxIndex+maxFile {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil || len(data) < len(magic)+4 || string(data[:len(magic)]) != magic {
		return nil
	}
	sum := binary.LittleEndian.Uint32(data[len(magic):])
	if data = data[len(magic)+4:]; crc32.ChecksumIEEE(data) != sum {
		return nil
	}
	kept := map[string][]word{}
	for len(data) > 0 {
		n := int(data[0])
		if len(data) < 1+n+4 {
			return nil
		}
		name := hex.EncodeToString(data[1 : 1+n])
		count := int(binary.LittleEndian.Uint32(data[1+n:]))
		if data = data[1+n+4:]; len(data)/4 < count {
			return nil
		}
		words := make([]word, count)
		for i := range words {
			words[i] = word(binary.LittleEndian.Uint32(data[4*i:]))
		}
		kept[name], data = words, data[4*count:]
	}
	return kept
}

// holding lists, for each query, the entries that hold all of its words.
func (x index) holding(queries [][]word) [][]int {
	number := map[word]int{}
	for _, q := range queries {
		for _, w := range q {
			if _, ok := number[w]; !ok {
				number[w] = len(number)
			}
		}
	}
	var filter [1 << 12]uint64 // bits of the wanted words' last 18 bits, which spares most look-ups
	for w := range number {
		filter[w>>6&0xfff] |= 1 << (w & 63)
	}
	found := make([][]int, len(queries))
	has := make([]bool, len(number))
	var seen []int
	for i, words := range x.words {
		for _, w := range words {
			if filter[w>>6&0xfff]&(1<<(w&63)) == 0 {
				continue
			}
			if n, ok := number[w]; ok {
				has[n], seen = true, append(seen, n)
			}
		}
		if len(seen) == 0 {
			continue
		}
		for q, query := range queries {
			if len(query) > 0 && !slices.ContainsFunc(query, func(w word) bool { return !has[number[w]] }) {
				found[q] = append(found[q], i)
			}
		}
		for _, n := range seen {
			has[n] = false
		}
		seen = seen[:0]
	}
	return found
}
