package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"

	"github.com/goccy/go-yaml"
	"github.com/rogpeppe/go-internal/txtar"
)

// The service's repository: what is on the main branch, and what the pull
// request puts over it.
//
//go:embed service/base.txtar
var baseFiles []byte

//go:embed service/pull.txtar
var pullFiles []byte

// script has the defects of the pull request, as the scripted model plays them.
//
//go:embed service/script.yaml
var script []byte

// scriptFile returns the file with which the scripted model is started.
func scriptFile() ([]byte, error) { return yaml.YAMLToJSON(script) }

// planted counts the defects of the pull request.
func planted() (int, error) {
	var all struct{ Defects []any }
	err := yaml.Unmarshal(script, &all)
	return len(all.Defects), err
}

const (
	pullTitle = "Add search"
	pullBody  = "Adds `GET /search`: the notes that contain a word, newest first.\n\n" +
		"The answer has the form that `GET /notes` has, and both are now written by one function."
)

// unpack writes the files of an archive below dir and overwrites existing ones.
func unpack(archive []byte, dir string) error {
	for _, file := range txtar.Parse(archive).Files {
		path := filepath.Join(dir, filepath.FromSlash(file.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("unpack the service: %w", err)
		}
		if err := os.WriteFile(path, file.Data, 0o644); err != nil {
			return fmt.Errorf("unpack the service: %w", err)
		}
	}
	return nil
}
