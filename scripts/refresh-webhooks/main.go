// Command refresh-webhooks fetches GitHub's published example payloads, the npm package
// @octokit/webhooks-examples, and packs them for the relay's tests:
//
//	go run ./scripts/refresh-webhooks [version]
//
// It needs npm, and runs no code of the package. Its output goes into the file beside the payloads, so that
// the difference under version control shows what changed.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

const (
	npmPackage = "@octokit/webhooks-examples"
	target     = "relay/internal/examples"
	// maxFileBytes bounds one file of the package; the largest has 4 MB.
	maxFileBytes = 64 << 20
)

func main() {
	version := "7.6.1"
	if len(os.Args) > 1 {
		version = os.Args[1]
	}
	if err := refresh(version); err != nil {
		fmt.Fprintf(os.Stderr, "refresh-webhooks: %v\n", err)
		os.Exit(1)
	}
}

func refresh(version string) error {
	archive, err := pack(version)
	if err != nil {
		return err
	}
	files, err := extract(archive, "package/package.json", "package/api.github.com/index.json")
	if err != nil {
		return err
	}
	var about struct{ Name, Version, License string }
	if err := json.Unmarshal(files["package/package.json"], &about); err != nil {
		return fmt.Errorf("read package.json: %w", err)
	}
	var events []struct {
		Name     string            `json:"name"`
		Examples []json.RawMessage `json:"examples"`
	}
	if err := json.Unmarshal(files["package/api.github.com/index.json"], &events); err != nil {
		return fmt.Errorf("read the examples: %w", err)
	}
	var packed bytes.Buffer
	compressor, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	lines, count := json.NewEncoder(compressor), 0
	for _, event := range events {
		for _, payload := range event.Examples {
			// The payload is a string here: its exact bytes, indentation included, matter.
			if err := lines.Encode(map[string]string{"event": event.Name, "payload": string(payload)}); err != nil {
				return err
			}
			count++
		}
	}
	if err := compressor.Close(); err != nil {
		return err
	}
	note := fmt.Sprintf("%d example payloads from npm %s %s, licence %s (https://github.com/octokit/webhooks)\nsha256 of the "+
		"package: %x\nmade by: go run ./scripts/refresh-webhooks\n",
		count, about.Name, about.Version, about.License, sha256.Sum256(archive))
	fmt.Print(note)
	if err := os.WriteFile(filepath.Join(target, "webhooks.jsonl.gz"), packed.Bytes(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(target, "webhooks.txt"), []byte(note), 0o644)
}

// pack downloads the package's archive.
func pack(version string) ([]byte, error) {
	folder, err := os.MkdirTemp("", "refresh-webhooks-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	npm := exec.Command("npm", "pack", "--silent", npmPackage+"@"+version)
	npm.Dir, npm.Stderr = folder, os.Stderr
	if err := npm.Run(); err != nil {
		return nil, fmt.Errorf("npm pack: %w", err)
	}
	archives, err := filepath.Glob(filepath.Join(folder, "*.tgz"))
	if err != nil || len(archives) != 1 {
		return nil, fmt.Errorf("npm pack left %d archives: %w", len(archives), err)
	}
	return os.ReadFile(archives[0])
}

// extract reads the named files from the archive; a missing file is an error.
func extract(archive []byte, names ...string) (map[string][]byte, error) {
	plain, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("read archive: %w", err)
	}
	files := map[string][]byte{}
	for entries := tar.NewReader(plain); ; {
		header, err := entries.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read archive: %w", err)
		}
		content, err := io.ReadAll(io.LimitReader(entries, maxFileBytes))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", header.Name, err)
		}
		files[header.Name] = content
	}
	for _, name := range names {
		if len(files[name]) == 0 {
			return nil, fmt.Errorf("the archive has no %s", name)
		}
	}
	return files, nil
}
