package setup

import (
	"bytes"
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
	// Key is the setting as agent.yaml has it, such as relay.url.
	Key string
	// Value is a text, a number or a list of texts. A list is written as a whole.
	Value any
}

// Write puts settings into the configuration file at path, making it and its directory where they
// are missing; comments and all other settings stay, and settings that cannot work are not written. It
// returns what changed, in sentences, and nothing where all was so already. Only its owner may read the file.
func Write(path string, changes []Change) ([]string, error) {
	text, said, err := plan(path, changes)
	if err != nil || len(said) == 0 {
		return nil, err
	}
	return said, Save(path, text)
}

// Check reports what would keep Write from writing settings, and changes nothing but for making the directory.
func Check(path string, changes []Change) error {
	if _, _, err := plan(path, changes); err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the directory of %s: %w", path, err)
	}
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return fmt.Errorf("the directory of %s cannot be written to: %w", path, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// plan is what the file would hold, and what that changes in sentences.
func plan(path string, changes []Change) (text []byte, said []string, err error) {
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("read the configuration: %w", err)
	}
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

// put sets one key in the file, and says what that changed; nil for nothing.
func (c Change) put(file *ast.File) (said *string, err error) {
	now, err := lookup(file, "$."+c.Key)
	if err != nil {
		return nil, err
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
	// The sections that are there stay, and what is below them is added.
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
	text := ""
	for i, key := range below {
		text += "\n" + strings.Repeat("  ", i) + key + ":"
	}
	text = fmt.Sprintf("%s %s", text[1:], value)
	if err := merge(file, place, text); err != nil {
		return nil, err
	}
	sentence := fmt.Sprintf("%s is %v", c.Key, c.Value)
	if now != nil && now != "" && !slices.Contains([]string{"[]", "null"}, string(bytes.TrimSpace(was))) {
		sentence += fmt.Sprintf("; it was %v", now)
	}
	return &sentence, nil
}

// empty reports whether a file has nothing but comments.
func empty(file *ast.File) bool {
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return true
	}
	_, comments := file.Docs[0].Body.(*ast.CommentGroupNode)
	return comments
}

// lookup is what the file has at a path; nil for nothing.
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

// merge lays a mapping's text over what is at a path.
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

// Save replaces a file that only this user may read, as a whole, and makes its directory where it is
// missing.
func Save(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the directory of %s: %w", path, err)
	}
	if err := atomicfile.Write(path, content); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
