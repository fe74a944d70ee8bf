// Package npm fetches packages of npm for the programs that refresh what is made from them. It needs npm, and
// runs no code of a package.
package npm

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
	"slices"
	"strings"
)

// Package is what a package says about itself, and its files.
type Package struct {
	Name, Version, License string
	SHA256                 string `json:"-"` // of the archive
	// Files are the requested files, by their paths in the archive.
	Files map[string][]byte `json:"-"`
}

// maxFile bounds one file read from a package, in bytes; the largest needed file is 13 MB.
const maxFile = 64 << 20

// Pack fetches a package, such as @octokit/openapi or @octokit/openapi@23.0.2, with the named files; a missing
// file is an error.
func Pack(name string, files ...string) (p Package, err error) {
	dir, err := os.MkdirTemp("", "npm-")
	if err != nil {
		return p, err
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command("npm", "pack", "--silent", name)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return p, fmt.Errorf("npm pack %s: %w", name, err)
	}
	archive, err := os.ReadFile(filepath.Join(dir, strings.TrimSpace(string(out))))
	if err != nil {
		return p, err
	}
	const about = "package/package.json"
	if p.Files, err = untar(archive, append(files, about)...); err != nil {
		return p, err
	}
	sum := sha256.Sum256(archive)
	p.SHA256 = hex.EncodeToString(sum[:])
	return p, json.Unmarshal(p.Files[about], &p)
}

func untar(archive []byte, names ...string) (map[string][]byte, error) {
	plain, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for entries := tar.NewReader(plain); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if slices.Contains(names, header.Name) {
			if files[header.Name], err = io.ReadAll(io.LimitReader(entries, maxFile)); err != nil {
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

// Gzip compresses what is made from a package as well as possible.
func Gzip(text []byte) []byte {
	var packed bytes.Buffer
	out, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is valid
	_, _ = out.Write(text)                                       // to memory, which never fails
	_ = out.Close()
	return packed.Bytes()
}
