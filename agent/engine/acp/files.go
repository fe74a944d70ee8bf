package acp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/coder/acp-go-sdk"

	"touchstone/agent/engine"
)

// maxText bounds, in bytes, how much of a file the agent gets at once, and how much it may write.
const maxText = 4 << 20

// maxFile bounds, in bytes, how far into a file the agent may read. Lines that are skipped are read too, and meanwhile
// nothing else happens in the session: not even its time can end it.
const maxFile = 256 << 20

// read answers fs/read_text_file. It only reads in the session's directories.
func (c *conversation) read(request acp.ReadTextFileRequest) (acp.ReadTextFileResponse, error) {
	dir, relative, err := c.readable(request.Path)
	if err != nil {
		return acp.ReadTextFileResponse{}, err
	}
	file, err := open(dir, relative, os.O_RDONLY)
	if err != nil {
		return acp.ReadTextFileResponse{}, err
	}
	defer file.Close()
	line, limit := 1, -1
	if request.Line != nil {
		line = *request.Line
	}
	if request.Limit != nil {
		limit = max(*request.Limit, 0)
	}
	text, err := lines(file, line, limit)
	return acp.ReadTextFileResponse{Content: strings.ToValidUTF8(text, "\uFFFD")}, err
}

// write answers fs/write_text_file. It is only allowed for an author, and only in the checkout.
func (c *conversation) write(request acp.WriteTextFileRequest) (acp.WriteTextFileResponse, error) {
	var done acp.WriteTextFileResponse
	relative, err := c.writable(request.Path)
	if err != nil {
		return done, err
	}
	if len(request.Content) > maxText {
		return done, fmt.Errorf("the text is longer than %d MiB, which may be written at once", maxText>>20)
	}
	file, err := open(c.dirs[0], relative, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return done, err
	}
	_, err = file.WriteString(request.Content)
	return done, errors.Join(err, file.Close())
}

// open opens a regular file within a directory and, if it may create the file, creates missing directories.
// It never blocks, as opening a pipe could. The path was resolved before and contains no links: if a program
// of the session puts a link there afterwards, for instance to git's own files, open fails.
func open(dir, relative string, flags int) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the session's directory: %w", err)
	}
	defer func() { root.Close() }()
	git, _ := root.Lstat(".git") // compared by identity, whatever name the file system accepts for it
	parts := strings.Split(filepath.ToSlash(relative), "/")
	for _, part := range parts[:len(parts)-1] {
		if flags&os.O_CREATE != 0 {
			if err := root.Mkdir(part, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
				return nil, err
			}
		}
		below, err := root.OpenRoot(part)
		if err != nil {
			return nil, err
		}
		above := root
		root = below
		opened, err := below.Stat(".")
		err = errors.Join(err, direct(above, part, opened, git), above.Close())
		if err != nil {
			return nil, err
		}
	}
	name := parts[len(parts)-1]
	file, err := root.OpenFile(name, flags&^os.O_TRUNC|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", relative)
	}
	if err == nil {
		err = direct(root, name, info, git)
	}
	// Truncation comes last, when it is certain which file is affected.
	if err == nil && flags&os.O_TRUNC != 0 {
		err = file.Truncate(0)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// direct fails if the opened file was reached through a link, or is git's own directory or file.
func direct(in *os.Root, name string, opened, git fs.FileInfo) error {
	named, err := in.Lstat(name)
	if err != nil {
		return err
	}
	if !os.SameFile(named, opened) || os.SameFile(opened, git) {
		return fmt.Errorf("%s leads to another file, which may not be opened by this name", name)
	}
	return nil
}

// lines reads up to limit lines from line first on, counted from 1. A negative limit means all lines.
func lines(from io.Reader, first, limit int) (string, error) {
	reader := bufio.NewReader(from)
	var text strings.Builder
	skipped := 0
	for n := 1; limit != 0; n++ {
		// A skipped line may have any length.
		for more := true; more; {
			piece, err := reader.ReadSlice('\n')
			if n >= first {
				text.Write(piece)
			} else {
				skipped += len(piece)
			}
			switch {
			case text.Len() > maxText:
				return "", fmt.Errorf("that is more than %d MiB of text; ask for fewer lines", maxText>>20)
			case skipped > maxFile:
				return "", fmt.Errorf("these lines are not in the first %d MiB of the file, and no others may be read", maxFile>>20)
			}
			if errors.Is(err, io.EOF) {
				return text.String(), nil
			}
			more = errors.Is(err, bufio.ErrBufferFull)
			if err != nil && !more {
				return "", err
			}
		}
		if n >= first && limit > 0 {
			limit--
		}
	}
	return text.String(), nil
}

// readable returns the session's directory that contains a file, and the file's path in it.
func (c *conversation) readable(path string) (dir, relative string, err error) {
	path, err = resolved(path)
	if err != nil {
		return "", "", err
	}
	for _, dir := range c.dirs {
		if relative, ok := inside(dir, path); ok {
			return dir, relative, nil
		}
	}
	return "", "", errors.New("that is outside of the session's directories, where nothing may be read")
}

// writable returns the path in the checkout of a file that may be written.
func (c *conversation) writable(path string) (string, error) {
	if c.Request.Role != engine.Author {
		return "", errors.New("nothing may be written in this session")
	}
	path, err := resolved(path)
	if err != nil {
		return "", err
	}
	relative, ok := inside(c.dirs[0], path)
	if !ok || inGit(relative) {
		return "", errors.New("that is not in the checkout, or is git's own, and may not be written")
	}
	return relative, nil
}

// resolved is an absolute path without symbolic links, as far as the path exists.
func resolved(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", errors.New("a file is named by its absolute path")
	}
	rest := ""
	for existing := filepath.Clean(path); ; existing = filepath.Dir(existing) {
		// A dangling link exists, but its target is not known.
		_, there := os.Lstat(existing)
		target, err := filepath.EvalSymlinks(existing)
		switch {
		case err == nil:
			return filepath.Join(target, rest), nil
		case there == nil || !errors.Is(there, fs.ErrNotExist) || existing == filepath.Dir(existing):
			return "", fmt.Errorf("find the file: %w", err)
		}
		rest = filepath.Join(filepath.Base(existing), rest)
	}
}
