package reviewer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"touchstone/agent/config"
	"touchstone/guidelines"
)

// guidelineDir holds a repository's own documents, on the base branch.
const guidelineDir = ".touchstone/guidelines"

// ErrRules says that guidelines laid over the embedded ones cannot be read. A
// review without them would judge by the wrong law.
var ErrRules = errors.New("the guidelines are broken; mend them where they are kept")

// ErrSettings says that the repository's settings cannot be read. A review without them
// would pass what they were meant to hold.
var ErrSettings = errors.New("the repository's settings are broken")

// rules are the embedded guidelines under the organisation's, under the
// repository's own. The latter are read from the base, so that no change can
// weaken the rules it is judged by.
func (e *Examiner) rules(ctx context.Context, s Subject) (guidelines.Set, error) {
	set := e.Guidelines
	if e.Layer != "" {
		layer, err := documents(layerNames(e.Layer), func(name string) ([]byte, error) {
			return os.ReadFile(filepath.Join(e.Layer, name))
		})
		if err != nil {
			return set, fmt.Errorf("read the organisation's guidelines in %s: %w", e.Layer, err)
		}
		set = set.Overlay(layer...)
	}
	own, err := documents(func() ([]string, error) {
		names, err := s.Files.ReadDir(ctx, s.Base, guidelineDir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil // it has none
		}
		return names, err
	}, func(name string) ([]byte, error) {
		return s.Files.ReadFile(ctx, s.Base, path.Join(guidelineDir, name))
	})
	if err != nil {
		return set, fmt.Errorf("read the repository's guidelines on its base branch: %w", err)
	}
	return set.Overlay(own...), nil
}

// layerNames lists a directory of this machine. One that was named has to be there.
func layerNames(dir string) func() ([]string, error) {
	return func() ([]string, error) {
		entries, err := os.ReadDir(dir)
		var names []string
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		return names, err
	}
}

// documents parses the guideline documents among the files of a directory.
func documents(list func() ([]string, error), read func(name string) ([]byte, error)) ([]guidelines.Document, error) {
	names, err := list()
	if err != nil {
		return nil, err
	}
	var docs []guidelines.Document
	for _, name := range names {
		if path.Ext(name) != ".md" {
			continue
		}
		text, err := read(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		doc, err := guidelines.Parse(strings.TrimSuffix(name, ".md"), string(text))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRules, err)
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

// settings are the repository's own, read from the base. Without them a review
// would not know what it was told to be strict about.
func settings(ctx context.Context, s Subject) (config.Repository, error) {
	text, err := s.Files.ReadFile(ctx, s.Base, config.RepositoryPath)
	if errors.Is(err, fs.ErrNotExist) {
		return config.DefaultRepository(), nil
	}
	if err != nil {
		return config.Repository{}, fmt.Errorf("read the repository's settings on its base branch: %w", err)
	}
	r, err := config.ParseRepository(text)
	if err != nil {
		return r, fmt.Errorf("%w: %w", ErrSettings, err)
	}
	return r, nil
}
