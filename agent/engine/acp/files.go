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

// maxText is how much of a file the agent is given at once, in bytes, and the longest that it may
// write.
const maxText = 4 << 20

// read answers fs/read_text_file, in the session's directories alone.
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

// write answers fs/write_text_file, for an author, in the checkout alone.
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

// open opens a regular file within a directory, and makes the directories above one that is to be
// made. It never waits, as opening a pipe would. The path is one without links: a program of the session
// that puts a link in its way after it was looked at, to git's own files for one, is refused.
func open(dir, relative string, flags int) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the session's directory: %w", err)
	}
	defer func() { root.Close() }()
	git, _ := root.Lstat(".git") // under whatever name the file system gives it out
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
	// Only now is it known what would be emptied.
	if err == nil && flags&os.O_TRUNC != 0 {
		err = file.Truncate(0)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// direct fails unless what was opened is what the name in this directory stands for itself, not by a
// link, and not git's own.
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

// lines reads lines from the first one that is wanted, 1 being the file's first; without a limit,
// which is negative, all of them.
func lines(from io.Reader, first, limit int) (string, error) {
	reader := bufio.NewReader(from)
	var text strings.Builder
	for n := 1; limit != 0; n++ {
		// A line that is left out may be of any length.
		for more := true; more; {
			piece, err := reader.ReadSlice('\n')
			if n >= first {
				text.Write(piece)
			}
			if text.Len() > maxText {
				return "", fmt.Errorf("that is more than %d MiB of text; ask for fewer lines", maxText>>20)
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

// readable gives the directory of the session that a file is in, and its path in there.
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

// writable gives the path in the checkout of a file that may be written.
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

// resolved is an absolute path without symbolic links, as far as it exists.
func resolved(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", errors.New("a file is named by its absolute path")
	}
	rest := ""
	for existing := filepath.Clean(path); ; existing = filepath.Dir(existing) {
		// A link that leads nowhere exists, and what is behind it is not known.
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
