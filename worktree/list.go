package worktree

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"touchstone/worktree/gitcmd"
)

// Entry is one regular file of a commit.
type Entry struct {
	Path string
	Blob string // git's name of its content
}

// List returns the regular files of a commit or tree, in git's order. Links and submodules
// are left out.
func (t *Tree) List(ctx context.Context, rev string) ([]Entry, error) {
	if err := checkSHAs(rev); err != nil {
		return nil, err
	}
	out, err := t.mirror.Output(ctx, "ls-tree", "-r", "-z", "--full-tree", rev)
	if err != nil {
		return nil, fmt.Errorf("list the files of %.12s: %w", rev, err)
	}
	var all []Entry
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") { // "100644 blob 3b18e5…\tname"
		meta, name, _ := strings.Cut(line, "\t")
		if f := strings.Fields(meta); len(f) == 3 && strings.HasPrefix(f[0], "100") {
			all = append(all, Entry{Path: name, Blob: f[2]})
		}
	}
	return all, nil
}

// Blobs reads contents by git's names of them and gives each, with its index in names, to
// take, which must not keep it. One of more than max bytes is given as nil.
func (t *Tree) Blobs(ctx context.Context, names []string, max int64, take func(i int, content []byte)) error {
	if len(names) == 0 {
		return nil
	}
	if err := checkSHAs(names...); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		stdin := strings.NewReader(strings.Join(names, "\n") + "\n")
		err := t.mirror.Run(ctx, gitcmd.Command{Stdin: stdin, Stdout: w, Args: []string{"cat-file", "--batch", "--buffer"}})
		w.CloseWithError(err)
		done <- err
	}()
	in := bufio.NewReaderSize(r, 256<<10)
	var err error
	for i := 0; i < len(names) && err == nil; i++ {
		var content []byte
		if content, _, err = readBlob(in, max); err == nil {
			take(i, content)
		}
	}
	if err != nil {
		stop()
		r.CloseWithError(err)
	}
	if gitErr := <-done; gitErr != nil && err == nil {
		err = gitErr
	}
	if err != nil {
		return fmt.Errorf("read files: %w", err)
	}
	return nil
}

// Beside is the path at which a file is kept beside the repository's mirror, for what can be
// computed again at any time. No pull request's code runs with the right to write there.
func (t *Tree) Beside(name string) string { return t.home.Tree(name) }
