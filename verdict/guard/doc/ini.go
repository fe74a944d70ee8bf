package doc

import (
	"bytes"
	"strings"

	"gopkg.in/ini.v1"
)

// parseINI reads the files of Python's configparser and similar formats, including properties. A section is a
// map; keys before the first section belong to the root.
func parseINI(content []byte) (*Node, error) {
	text := written(content)
	if bytes.Count(text, []byte("\n")) > maxLines {
		return nil, ErrTooLarge
	}
	file, err := ini.LoadSources(ini.LoadOptions{
		AllowPythonMultilineValues: true, AllowBooleanKeys: true, AllowShadows: true, IgnoreInlineComment: true,
		SpaceBeforeInlineComment: true, KeyValueDelimiters: "=:", SkipUnrecognizableLines: true, AllowNonUniqueSections: true,
		Insensitive: false,
	}, text)
	if err != nil {
		return nil, err
	}
	root := &Node{Kind: Map, Line: 1}
	lines := bytes.Split(content, []byte("\n"))
	from, left := 0, maxSearched
	for _, s := range file.Sections() {
		at := root
		if s.Name() != ini.DefaultSection {
			from = lineWith(lines, from, "["+s.Name(), &left)
			at = &Node{Kind: Map, Key: s.Name(), Line: from + 1}
			root.Items = append(root.Items, at)
		}
		for _, k := range s.Keys() {
			line := lineWith(lines, from, k.Name(), &left)
			at.Items = append(at.Items, &Node{Key: k.Name(), Value: strings.TrimSpace(strings.Join(k.ValueWithShadows(), "\n")), Line: line + 1})
		}
	}
	return root, nil
}

// written removes comments and empty lines, because the library ends a multi-line value at them.
func written(content []byte) []byte {
	var kept bytes.Buffer
	for line := range bytes.Lines(content) {
		if text := bytes.TrimSpace(line); len(text) > 0 && text[0] != '#' && text[0] != ';' {
			kept.Write(line)
		}
	}
	return kept.Bytes()
}

// maxLines bounds the lines of a document that are no comments. The library's time grows with the square of the keys of a
// section, and of the values of a key: half a second for so many.
const maxLines = 20_000

// maxSearched bounds the lines that are searched for keys in one document.
const maxSearched = 10_000_000

// lineWith is the index of the first line from an index on that begins with a text, apart from space; the first index if
// there is none, or the bound is reached. The library does not report the line of a key.
func lineWith(lines [][]byte, from int, text string, left *int) int {
	for i := from; i < len(lines) && *left > 0; i++ {
		*left--
		if bytes.HasPrefix(bytes.TrimSpace(lines[i]), []byte(text)) {
			return i
		}
	}
	return from
}
