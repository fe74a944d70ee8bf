// Command refresh-contract regenerates the parts of GitHub's published API descriptions to which the
// simulator and its contract gate are held.
//
//	go run ./scripts/refresh-contract
//
// It takes the newest packages with `npm pack` (or those named on the command line, such as
// @octokit/openapi@23.0.2), keeps the operations, schemas and webhooks that this product uses, and writes
// them with a SOURCES.json beside them. The resulting difference in git shows how GitHub's API has changed.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// outDir is where the regenerated files live, relative to the module's root.
const outDir = "agent/githubsim/spec"

// maxFile bounds one file read from a package, in bytes; the largest needed file is 13 MB.
const maxFile = 64 << 20

// source is one line of SOURCES.json: the origin of a committed file.
type source struct {
	File    string `json:"file"`
	Package string `json:"package"`
	Version string `json:"version"`
	SHA256  string `json:"sha256"` // of the package's tarball
	License string `json:"license"`
}

// part is one committed file and how it is made from a package's file.
type part struct {
	pkg, from, to string
	license       string // its file in the package
	trim          func([]byte) ([]byte, error)
}

var parts = []part{
	{"@octokit/openapi", "package/generated/api.github.com.json", "openapi.json.gz", "package/LICENSE", trimOpenAPI},
	{"@octokit/openapi-webhooks", "package/generated/api.github.com.json", "webhooks.json.gz", "package/LICENSE", trimWebhooks},
	{"@octokit/graphql-schema", "package/schema.graphql", "schema.graphql.gz", "package/LICENSE.md", trimGraphQL},
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "refresh-contract:", err)
		os.Exit(1)
	}
}

func run(pinned []string) error {
	if _, err := os.Stat(outDir); err != nil {
		return fmt.Errorf("run this from the module's root: %w", err)
	}
	tmp, err := os.MkdirTemp("", "refresh-contract-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	var sources []source
	var licenses bytes.Buffer
	for _, p := range parts {
		src, license, err := refresh(p, tmp, pinned)
		if err != nil {
			return fmt.Errorf("refresh %s: %w", p.to, err)
		}
		sources = append(sources, src)
		fmt.Fprintf(&licenses, "%s, from which %s is made:\n\n%s\n\n", src.Package, src.File, bytes.TrimSpace(license))
	}
	list, err := json.MarshalIndent(sources, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(outDir, "LICENSES.txt"), licenses.Bytes(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(outDir, "SOURCES.json"), append(list, '\n'), 0o644)
}

// refresh fetches a package, trims its file into outDir, and returns its origin and licence.
func refresh(p part, tmp string, pinned []string) (src source, license []byte, err error) {
	name := p.pkg
	for _, arg := range pinned {
		if strings.HasPrefix(arg, p.pkg+"@") {
			name = arg
		}
	}
	cmd := exec.Command("npm", "pack", "--silent", name)
	cmd.Dir, cmd.Stderr = tmp, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return src, nil, fmt.Errorf("npm pack %s: %w", name, err)
	}
	tarball, err := os.ReadFile(filepath.Join(tmp, strings.TrimSpace(string(out))))
	if err != nil {
		return src, nil, err
	}
	files, err := untar(tarball, p.from, p.license, "package/package.json")
	if err != nil {
		return src, nil, err
	}
	var manifest struct{ Name, Version, License string }
	if err := json.Unmarshal(files["package/package.json"], &manifest); err != nil {
		return src, nil, err
	}
	trimmed, err := p.trim(files[p.from])
	if err != nil {
		return src, nil, err
	}
	var packed bytes.Buffer
	zw, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if _, err := zw.Write(trimmed); err != nil {
		return src, nil, err
	}
	if err := zw.Close(); err != nil {
		return src, nil, err
	}
	sum := sha256.Sum256(tarball)
	src = source{File: p.to, Package: manifest.Name, Version: manifest.Version, SHA256: hex.EncodeToString(sum[:]), License: manifest.License}
	return src, files[p.license], os.WriteFile(filepath.Join(outDir, p.to), packed.Bytes(), 0o644)
}

// untar reads the named files from a package; a missing file is an error.
func untar(tarball []byte, names ...string) (map[string][]byte, error) {
	zr, err := gzip.NewReader(bytes.NewReader(tarball))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for tr := tar.NewReader(zr); ; {
		header, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if header.Name != name {
				continue
			}
			if files[name], err = io.ReadAll(io.LimitReader(tr, maxFile)); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range names {
		if files[name] == nil {
			return nil, fmt.Errorf("the package contains no %s", name)
		}
	}
	return files, nil
}
