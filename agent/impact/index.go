package impact

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"os"
	"path"
	"slices"
	"strings"

	"touchstone/worktree"
	"touchstone/worktree/atomicfile"
	"touchstone/worktree/filekind"
)

const (
	// maxFile bounds the searched files, in bytes: larger ones are data.
	maxFile = 1 << 20
	// maxFiles bounds their number.
	maxFiles = 100_000
	// maxIndex bounds the index in bytes.
	maxIndex = 512 << 20
	// enough is how many new contents there must be before the index is written again.
	enough = 100
)

// Files that are not searched for uses besides vendored code and lock files, by name and by extension: generated code,
// changelogs, and files that are not text.
var (
	passedNames = set("changelog changes history news")
	prose       = set("md rst txt adoc")
	passedEnds  = set(`sum map snap svg png jpg jpeg gif ico webp pdf zip gz tgz jar woff woff2 ttf eot mp2 mp3 mp4 wasm bin so a dll
		exe class pyc csv po
		parquet sqlite ipynb`)
)

func set(words string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		all[word] = true
	}
	return all
}

// passed reports whether a file is not searched for uses.
func passed(file string) bool {
	if _, ok := filekind.Vendored(file); ok || filekind.Lock(file) {
		return true
	}
	file = strings.ToLower(file)
	name := path.Base(file)
	end := strings.TrimPrefix(path.Ext(name), ".")
	stem := strings.TrimSuffix(name, "."+end)
	return strings.Contains("/"+file, "/changelog/") || strings.Contains("/"+file, "/changelogs/") || passedNames[name] ||
		passedNames[stem] && prose[end] || passedEnds[end] ||
		(end == "js" || end == "css") && (strings.HasSuffix(stem, ".min") || strings.HasSuffix(stem, "-min")) ||
		end == "go" && strings.HasSuffix(stem, ".pb")
}

// IndexName is the name of a repository's index beside its mirror.
const IndexName = "impact.words"

// index holds the words in each file of a commit.
type index struct {
	entries []worktree.Entry
	words   [][]word // of each entry; nil for one that was not searched, tooLong for one that is too long
	long    int      // how many files are too long
	// typed are Go files that are not searched but define types.
	typed []worktree.Entry
}

// tooLong stands for the words of a file that is longer than maxFile.
var tooLong = []word{0}

// readIndex makes the index of a commit. It stores the words of contents in a file, by blob name, so that
// next time only new contents are read; an empty file name stores nothing. A damaged index is made again. In
// a repository with too many files, those in the same top directories as the near files come first.
func readIndex(
	ctx context.Context, files Files, contents *worktree.Contents, rev, file string, near map[string]map[int]string,
) (x index, left int, err error) {
	all, err := files.List(ctx, rev)
	if err != nil {
		return x, 0, err
	}
	for _, e := range all {
		if !passed(e.Path) {
			x.entries = append(x.entries, e)
		} else if strings.HasSuffix(e.Path, ".pb.go") {
			x.typed = append(x.typed, e)
		}
	}
	if left = max(0, len(x.entries)-maxFiles); left > 0 {
		x.entries = nearest(x.entries, near)
	}
	kept := load(file)
	x.words = make([][]word, len(x.entries))
	var fresh []string       // blob names, each once
	at := map[string][]int{} // the entries with that blob
	for i, e := range x.entries {
		if w, ok := kept[e.Blob]; ok {
			x.words[i] = w
			continue
		}
		if at[e.Blob] == nil {
			fresh = append(fresh, e.Blob)
		}
		at[e.Blob] = append(at[e.Blob], i)
	}
	var space []word
	err = contents.Blobs(fresh, maxFile, func(i int, content []byte) {
		words := tooLong
		if content != nil {
			words = []word{}
			if !binaryText(content) {
				space = wordsOf(content, space)
				words = slices.Clone(space)
			}
		}
		for _, entry := range at[fresh[i]] {
			x.words[entry] = words
		}
	})
	if err != nil {
		return x, left, err
	}
	for _, words := range x.words {
		if slices.Equal(words, tooLong) {
			x.long++
		}
	}
	if file != "" && len(fresh) >= enough {
		x.save(file)
	}
	return x, left, nil
}

// nearest returns as many entries as are searched, in their order: those in the top directories of the near
// files, then the others.
func nearest(entries []worktree.Entry, near map[string]map[int]string) []worktree.Entry {
	top := func(file string) string { dir, _, _ := strings.Cut(file, "/"); return dir }
	tops := map[string]bool{}
	for file := range near {
		tops[top(file)] = true
	}
	var beside, others []worktree.Entry
	for _, e := range entries {
		if tops[top(e.Path)] {
			beside = append(beside, e)
		} else {
			others = append(others, e)
		}
	}
	all := append(beside, others...)[:min(len(entries), maxFiles)]
	slices.SortFunc(all, func(a, b worktree.Entry) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// at returns the entry of a file; ok is false for a file that is not searched. Git lists files in byte order.
func (x index) at(file string) (entry int, ok bool) {
	return slices.BinarySearchFunc(x.entries, file, func(e worktree.Entry, file string) int { return strings.Compare(e.Path, file) })
}

// has reports whether a file or a directory of this name can exist: it is searched, or skipped.
func (x index) has(name string) bool {
	entry, ok := x.at(name)
	ok = ok || passed(name)
	return ok || entry < len(x.entries) && strings.HasPrefix(x.entries[entry].Path, strings.TrimSuffix(name, "/")+"/")
}

// binaryText reports whether a content is not text, by git's rule.
func binaryText(content []byte) bool {
	return slices.Contains(content[:min(len(content), 8000)], 0)
}

// The format of the index's file: magic, the checksum of the rest, and for each content its name, the number
// of its words, and the words.
const magic = "touchstone words 3\n"

// save stores the index, unless it is too large. A failure only costs time at the next review.
func (x index) save(file string) {
	out := make([]byte, len(magic)+4)
	copy(out, magic)
	for i, e := range x.entries {
		name, err := hex.DecodeString(e.Blob)
		if err != nil || len(out) > maxIndex {
			return
		}
		out = append(append(out, byte(len(name))), name...)
		out = binary.LittleEndian.AppendUint32(out, uint32(len(x.words[i])))
		for _, w := range x.words[i] {
			out = binary.LittleEndian.AppendUint32(out, uint32(w))
		}
	}
	binary.LittleEndian.PutUint32(out[len(magic):], crc32.ChecksumIEEE(out[len(magic)+4:]))
	_ = atomicfile.Swap(file, out) // the checksum detects damage by a power cut
}

// load reads a stored index, keyed by blob names; nil if there is no intact one.
func load(file string) map[string][]word {
	info, err := os.Stat(file)
	if err != nil || info.Size() > maxIndex+maxFile {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil || len(data) < len(magic)+4 || string(data[:len(magic)]) != magic {
		return nil
	}
	sum := binary.LittleEndian.Uint32(data[len(magic):])
	if data = data[len(magic)+4:]; crc32.ChecksumIEEE(data) != sum {
		return nil
	}
	kept := make(map[string][]word, len(data)>>9)
	all := make([]word, 0, len(data)/4) // words of all contents, in one allocation
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
		start := len(all)
		for i := range count {
			all = append(all, word(binary.LittleEndian.Uint32(data[4*i:])))
		}
		kept[name], data = all[start:len(all):len(all)], data[4*count:]
	}
	return kept
}

// holding lists, for each query, the entries that contain all of its words.
func (x index) holding(queries [][]word) [][]int {
	number := map[word]int{}
	for _, q := range queries {
		for _, w := range q {
			if _, ok := number[w]; !ok {
				number[w] = len(number)
			}
		}
	}
	var filter [1 << 12]uint64 // a filter on the wanted words' last 18 bits, which saves most look-ups
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
