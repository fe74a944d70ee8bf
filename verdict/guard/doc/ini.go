package doc

import (
	"bytes"
	"strings"

	"gopkg.in/ini.v1"
)

// parseINI reads the files of Python's configparser and their kin, properties included.
// A section is a map; keys before the first section are the root's own.
func parseINI(content []byte) (*Node, error) {
	file, err := ini.LoadSources(ini.LoadOptions{
		AllowPythonMultilineValues: true, AllowBooleanKeys: true, AllowShadows: true, IgnoreInlineComment: true,
		SpaceBeforeInlineComment: true, KeyValueDelimiters: "=:", SkipUnrecognizableLines: true, AllowNonUniqueSections: true,
		Insensitive: false,
	}, written(content))
	if err != nil {
		return nil, err
	}
	root := &Node{Kind: Map, Line: 1}
	lines := bytes.Split(content, []byte("\n"))
	from := 0
	for _, s := range file.Sections() {
		at := root
		if s.Name() != ini.DefaultSection {
			from = lineWith(lines, from, "["+s.Name())
			at = &Node{Kind: Map, Key: s.Name(), Line: from + 1}
			root.Items = append(root.Items, at)
		}
		for _, k := range s.Keys() {
			line := lineWith(lines, from, k.Name())
			at.Items = append(at.Items, &Node{Key: k.Name(), Value: strings.TrimSpace(strings.Join(k.ValueWithShadows(), "\n")), Line: line + 1})
		}
	}
	return root, nil
}

// written leaves out comments and empty lines, behind which the library ends a value that goes on.
func written(content []byte) []byte {
	var kept bytes.Buffer
	for line := range bytes.Lines(content) {
		if text := bytes.TrimSpace(line); len(text) > 0 && text[0] != '#' && text[0] != ';' {
			kept.Write(line)
		}
	}
	return kept.Bytes()
}

// lineWith is the index of the first line from one on that begins with a text, blanks
// aside; the library does not say where a key stands.
func lineWith(lines [][]byte, from int, text string) int {
	for i := from; i < len(lines); i++ {
		if bytes.HasPrefix(bytes.TrimSpace(lines[i]), []byte(text)) {
			return i
		}
	}
	return from
}
