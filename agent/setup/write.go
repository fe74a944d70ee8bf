package setup

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"touchstone/agent/config"
	"touchstone/worktree/atomicfile"
)

// Change is one setting to be written.
type Change struct {
	// Key is the key in agent.yaml, such as relay.url.
	Key string
	// Value is a text, a number or a list of texts. A list is written as a whole.
	Value any
}

// Write writes settings to the configuration file at path, and creates the file and its directory if they are
// missing. Comments and all other settings stay, and settings that cannot work are not written. It returns
// the changes in sentences, and nothing if the file already had these settings. Only its owner may read the
// file.
func Write(path string, changes []Change) ([]string, error) {
	text, said, err := plan(path, changes)
	if err != nil || len(said) == 0 {
		return nil, err
	}
	return said, Save(path, text)
}

// ownFile is what to do if the configuration file cannot be written.
const ownFile = "change its owner or mode, or name another file with --config"

// Check reports what would keep Write from writing settings. It changes nothing, except that it creates the
// directory.
func Check(path string, changes []Change) error {
	if _, _, err := plan(path, changes); err != nil {
		return err
	}
	dir := filepath.Dir(linked(path))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the directory of %s: %w; %s", path, err, ownFile)
	}
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return fmt.Errorf("the directory of %s cannot be written to: %w; %s", path, err, ownFile)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// plan returns the new content of the file, and the changes in sentences.
func plan(path string, changes []Change) (text []byte, said []string, err error) {
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("read the configuration: %w", err)
	}
	// Some editors begin a file with a byte order mark, which the library takes for a part of the first key.
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	file, err := parser.ParseBytes(content, parser.ParseComments)
	if err != nil || len(file.Docs) > 1 {
		return nil, nil, fmt.Errorf("the configuration %s cannot be read, so nothing was written to it: correct it, or move it away", path)
	}
	for _, change := range changes {
		before, err := change.put(file)
		if err != nil {
			return nil, nil, fmt.Errorf("set %s in %s: %w", change.Key, path, err)
		}
		if before != nil {
			said = append(said, *before)
		}
	}
	if len(said) == 0 {
		return nil, nil, nil
	}
	text = []byte(strings.TrimLeft(file.String(), "\n"))
	if _, err := parser.ParseBytes(text, 0); err != nil {
		return nil, nil, fmt.Errorf("the configuration %s stands in braces, so nothing was written to it: write a line for each setting", path)
	}
	if err := config.CheckText(path, text); err != nil {
		return nil, nil, fmt.Errorf("nothing was written to %s: %w", path, err)
	}
	return text, said, nil
}

// put sets one key in the file, and describes the change; nil for no change.
func (c Change) put(file *ast.File) (said *string, err error) {
	// Existing sections stay, and missing keys below them are added. The library finds nothing below a section without
	// settings, such as one whose settings are all commented out: it is missing like one that is not there.
	place, below := "$", strings.Split(c.Key, ".")
	for len(below) > 1 {
		section := place + "." + below[0]
		if there, err := lookup(file, section); err != nil {
			return nil, err
		} else if there == nil {
			break
		}
		place, below = section, below[1:]
	}
	var now any
	if len(below) == 1 {
		if now, err = lookup(file, place+"."+below[0]); err != nil {
			return nil, err
		}
	}
	was, err := yaml.Marshal(now)
	if err != nil {
		return nil, err
	}
	value, err := yaml.MarshalWithOptions(c.Value, yaml.Flow(true))
	if err != nil {
		return nil, err
	}
	if wanted, err := yaml.Marshal(c.Value); err != nil || bytes.Equal(was, wanted) {
		return nil, err
	}
	text := ""
	for i, key := range below {
		text += "\n" + strings.Repeat("  ", i) + key + ":"
	}
	text = fmt.Sprintf("%s %s", text[1:], value)
	if err := merge(file, place, text); err != nil {
		return nil, err
	}
	sentence := fmt.Sprintf("%s is %s", c.Key, cmp.Or(fmt.Sprint(c.Value), "empty"))
	if now != nil && now != "" && !slices.Contains([]string{"[]", "null"}, string(bytes.TrimSpace(was))) {
		sentence += fmt.Sprintf("; it was %v", now)
	}
	return &sentence, nil
}

// empty reports whether a file contains only comments.
func empty(file *ast.File) bool {
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return true
	}
	_, comments := file.Docs[0].Body.(*ast.CommentGroupNode)
	return comments
}

// lookup returns the value at a path of the file; nil for none.
func lookup(file *ast.File, at string) (any, error) {
	if empty(file) {
		return nil, nil
	}
	path, err := yaml.PathString(at)
	if err != nil {
		return nil, err
	}
	node, err := path.FilterFile(file)
	if errors.Is(err, yaml.ErrNotFoundNode) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var value any
	return value, yaml.NodeToValue(node, &value)
}

// merge merges a mapping's text into the node at a path.
func merge(file *ast.File, at, text string) error {
	if empty(file) {
		made, err := parser.ParseBytes([]byte(file.String()+"\n"+text), parser.ParseComments)
		if err == nil {
			file.Docs = made.Docs
		}
		return err
	}
	path, err := yaml.PathString(at)
	if err != nil {
		return err
	}
	return path.MergeFromReader(file, strings.NewReader(text))
}

// linked returns the file to which a path leads through links; the path itself if there is no such file.
func linked(path string) string {
	if file, err := filepath.EvalSymlinks(path); err == nil {
		return file
	}
	return path
}

// Save replaces a whole file that only this user may read, and creates its directory if it is missing. A link
// to the file stays, since people keep their settings in a repository and link to them.
func Save(path string, content []byte) error {
	path = linked(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the directory of %s: %w", path, err)
	}
	if err := atomicfile.Write(path, content); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
