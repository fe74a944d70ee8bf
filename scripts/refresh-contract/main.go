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
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"touchstone/scripts/npm"
)

// outDir is where the regenerated files live, relative to the module's root.
const outDir = "agent/githubsim/spec"

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
	var sources []source
	var licenses bytes.Buffer
	for _, p := range parts {
		src, license, err := refresh(p, pinned)
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
func refresh(p part, pinned []string) (src source, license []byte, err error) {
	name := p.pkg
	for _, arg := range pinned {
		if strings.HasPrefix(arg, p.pkg+"@") {
			name = arg
		}
	}
	from, err := npm.Pack(name, p.from, p.license)
	if err != nil {
		return src, nil, err
	}
	trimmed, err := p.trim(from.Files[p.from])
	if err != nil {
		return src, nil, err
	}
	src = source{File: p.to, Package: from.Name, Version: from.Version, SHA256: from.SHA256, License: from.License}
	return src, from.Files[p.license], os.WriteFile(filepath.Join(outDir, p.to), npm.Gzip(trimmed), 0o644)
}
