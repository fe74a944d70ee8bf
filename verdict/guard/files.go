package guard

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/go-git/go-git/v5/plumbing/format/gitattributes"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/code"
)

// isAttributes reports whether a file can mark other files as generated or vendored.
func isAttributes(name string) bool { return path.Base(name) == ".gitattributes" }

// vendored reports whether a file is in such a folder.
func vendored(name string) bool {
	folders := strings.Split(name, "/")
	return slices.ContainsFunc(folders[:len(folders)-1], func(f string) bool { return slices.Contains(elsewhere, f) })
}

// readable returns the files to examine, as text, and findings about the files that cannot be examined.
func readable(files []File) (read []File, found []Finding) {
	generated := marked(files)
	size := 0
	unexamined := func(f File, why string) {
		tier := change.HoldIf(Gates(f.Path) || Gates(f.OldPath))
		found = append(found, Finding{Tier: tier, Kind: Unexamined, Rule: "guard/unread", Why: why, Place: change.Place{Path: f.Name()}})
	}
	for _, f := range files {
		if vendored(f.Path) && !vendored(f.OldPath) { // a file that moves to third-party code counts as deleted
			f.Path, f.After = "", nil
		}
		switch {
		case !Examines(f.Path) && !Examines(f.OldPath), generated(f.Name()) && !Gates(f.Name()) && !change.IsLock(f.Name()):
			continue
		case (change.IsLock(f.Name()) || code.IsData(f.Name()) && !Gates(f.Name())) && (f.Unread || max(len(f.Before), len(f.After)) > MaxFile):
			continue // it only explains, or is data
		case f.Unread || max(len(f.Before), len(f.After)) > MaxFile:
			unexamined(f, fmt.Sprintf("The file is larger than %d MiB, or cannot be read; somebody has to look.", MaxFile>>20))
			continue
		case size > MaxChange:
			unexamined(f, fmt.Sprintf("The change is larger than the %d MiB that are examined; somebody has to look.", MaxChange>>20))
			return read, found
		}
		size += len(f.Before) + len(f.After)
		f.Before, f.After = plain(f.Before), plain(f.After)
		if f.OldPath != "" && f.Before == nil { // an empty file still exists
			f.Before = []byte{}
		}
		if f.Path != "" && f.After == nil {
			f.After = []byte{}
		}
		read = append(read, f)
	}
	return read, found
}

// marked returns a function that reports whether the base's attributes mark a file as generated or vendored.
// The change's own attributes do not count. The last matching line wins, and the attributes in a file's own
// folder win over those further up.
func marked(files []File) func(name string) bool {
	var lines []gitattributes.MatchAttribute
	own := slices.DeleteFunc(slices.Clone(files), func(f File) bool { return !isAttributes(f.OldPath) })
	slices.SortStableFunc(own, func(a, b File) int { return strings.Count(a.OldPath, "/") - strings.Count(b.OldPath, "/") })
	for _, f := range own {
		var folder []string
		if dir := path.Dir(f.OldPath); dir != "." {
			folder = strings.Split(dir, "/")
		}
		lines = append(lines, attributes(f.Before, folder)...)
	}
	return func(name string) bool {
		said := map[string]bool{}
		for _, line := range lines {
			// In Git a folder's pattern matches no file; the library fails at such a pattern.
			if line.Pattern == nil || strings.HasSuffix(line.Name, "/") || !line.Pattern.Match(strings.Split(name, "/")) {
				continue
			}
			for _, a := range line.Attributes {
				said[a.Name()] = a.IsSet() || a.IsValueSet() && a.Value() == "true"
			}
		}
		return said["linguist-generated"] || said["linguist-vendored"]
	}
}

// attributes reads the attributes of a folder. If the library fails at them, for example at a pattern with an
// empty name, they mark nothing.
func attributes(content []byte, folder []string) (lines []gitattributes.MatchAttribute) {
	defer func() {
		if recover() != nil {
			lines = nil
		}
	}()
	lines, err := gitattributes.ReadAttributes(bytes.NewReader(content), folder, folder == nil)
	if err != nil {
		return nil
	}
	return lines
}

// plain returns a text as UTF-8, without a byte order mark and with Unix line endings.
func plain(content []byte) []byte {
	switch {
	case len(content) == 0:
		return nil
	case bytes.HasPrefix(content, []byte{0xFF, 0xFE}), bytes.HasPrefix(content, []byte{0xFE, 0xFF}):
		order := binary.ByteOrder(binary.LittleEndian)
		if content[0] == 0xFE {
			order = binary.BigEndian
		}
		units := make([]uint16, len(content)/2-1)
		for i := range units {
			units[i] = order.Uint16(content[2+2*i:])
		}
		content = []byte(string(utf16.Decode(units)))
	default:
		content = bytes.TrimPrefix(content, []byte("\xEF\xBB\xBF"))
	}
	if !bytes.Contains(content, []byte("\r\n")) {
		return content // saves a copy, which may be large
	}
	return bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
}
