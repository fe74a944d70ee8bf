package remoteguidelines

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// maxDocument bounds a document in a directory, in bytes, as it is bounded in a repository at GitHub.
const maxDocument = 1 << 20

// ReadDir reads the texts of the documents in a directory of a checkout, by their names. Like the loading from a commit, it
// follows no symbolic link: neither in a document's place nor in that of a repository's directory for them.
func ReadDir(dir string) (map[string]string, error) {
	if clean := filepath.ToSlash(filepath.Clean(dir)); strings.HasSuffix("/"+clean, "/"+Dir) {
		for _, place := range []string{filepath.Dir(filepath.Clean(dir)), filepath.Clean(dir)} {
			if info, err := os.Lstat(place); err == nil && !info.IsDir() {
				return nil, fmt.Errorf("%s is a symbolic link or a file, so a review can read nothing in it; make it a directory", place)
			}
		}
	}
	return readDir(dir, os.Lstat)
}

// readDir reads the documents in a directory. The function info decides whether links to them are followed.
func readDir(dir string, info func(path string) (fs.FileInfo, error)) (map[string]string, error) {
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
	return read(filepath.ToSlash(dir), names, func(name string) ([]byte, error) {
		file := filepath.Join(dir, name)
		is, err := info(file)
		if err == nil && !is.Mode().IsRegular() {
			err = errors.New("it is a symbolic link or no regular file, and is not read; put the document itself there")
		}
		if err != nil {
			return nil, err
		}
		return readFile(file)
	})
}

// readFile reads a document up to its bound.
func readFile(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxDocument+1))
	if err == nil && len(text) > maxDocument {
		err = fmt.Errorf("it is larger than %d MiB", maxDocument>>20)
	}
	return text, err
}

// maxDocuments bounds how many documents are read in one place.
const maxDocuments = 100

// read reads the documents among the files of a directory, by their names.
func read(dir string, files []string, open func(name string) ([]byte, error)) (map[string]string, error) {
	files = slices.DeleteFunc(slices.Clone(files), func(name string) bool { return !strings.HasSuffix(name, ".md") })
	if len(files) > maxDocuments {
		return nil, fmt.Errorf("there are more than %d guideline documents in %s", maxDocuments, dir)
	}
	texts := map[string]string{}
	for _, file := range files {
		text, err := open(file)
		if err != nil {
			return nil, fmt.Errorf("read the guideline %s: %w", path.Join(dir, file), err)
		}
		texts[strings.TrimSuffix(file, ".md")] = string(text)
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
	return read(Dir, names, func(name string) ([]byte, error) { return tree.ReadFile(ctx, rev, path.Join(Dir, name)) })
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
