package remoteguidelines

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"touchstone/agent/config"
	"touchstone/guidelines"
)

// ReadDir reads the texts of the documents in a directory of this machine, by their names.
func ReadDir(dir string) (map[string]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no directory %s: name one that contains guideline documents, or go to the repository's root", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("list the guidelines: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if !entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return Read(names, func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, name)) })
}

// Read reads the documents among files, by their names.
func Read(files []string, read func(name string) ([]byte, error)) (map[string]string, error) {
	texts := map[string]string{}
	for _, file := range files {
		name, ok := strings.CutSuffix(file, ".md")
		if !ok {
			continue
		}
		text, err := read(file)
		if err != nil {
			return nil, fmt.Errorf("read the guideline %s: %w", file, err)
		}
		texts[name] = string(text)
	}
	return texts, nil
}

// Committed reads the documents that a commit of a clone contains; nil if it has no directory for them. It is
// an error if it has something else in the directory's place.
func Committed(ctx context.Context, tree config.Tree, rev string) (map[string]string, error) {
	names, err := tree.ReadDir(ctx, rev, Dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err = config.RequireDir(ctx, tree, rev, Dir); err == nil {
			return nil, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("list the repository's guidelines: %w", err)
	}
	return Read(names, func(name string) ([]byte, error) { return tree.ReadFile(ctx, rev, path.Join(Dir, name)) })
}

// Lay lays documents over a set.
func Lay(set guidelines.Set, texts map[string]string) (guidelines.Set, error) {
	var docs []guidelines.Document
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		doc, err := guidelines.Parse(name, texts[name])
		if err != nil {
			return set, err
		}
		docs = append(docs, doc)
	}
	return set.Overlay(docs...), nil
}
