package worktree

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"touchstone/worktree/gitcmd"
)

// Contents reads file contents by blob name. All reads share one git process, because starting git takes more
// time than most reads. It is for one goroutine, which closes it.
type Contents struct {
	begin     func() // starts git, once
	questions *io.PipeWriter
	answers   *bufio.Reader
	stop      context.CancelFunc
	running   sync.WaitGroup
}

// Contents returns a reader that works until ctx ends.
func (t *Tree) Contents(ctx context.Context) *Contents { return t.mirror.contents(ctx) }

func (r repo) contents(ctx context.Context) *Contents {
	ctx, stop := context.WithCancel(ctx)
	questions, ask := io.Pipe()
	answers, answer := io.Pipe()
	c := &Contents{questions: ask, answers: bufio.NewReaderSize(answers, 64<<10), stop: stop}
	// The end of git alone does not unblock readers and writers of the pipes, and Run waits for both.
	context.AfterFunc(ctx, func() {
		_ = ask.CloseWithError(ctx.Err())
		_ = answer.CloseWithError(ctx.Err())
	})
	run := func() {
		err := r.Run(ctx, gitcmd.Command{
			Stdin: questions, Stdout: answer, Args: []string{"cat-file", "--batch-command", "--buffer"},
		})
		_ = questions.CloseWithError(err)
		_ = answer.CloseWithError(err)
	}
	c.begin = sync.OnceFunc(func() { c.running.Go(run) })
	return c
}

// Close stops git.
func (c *Contents) Close() {
	_ = c.questions.Close()
	c.running.Wait()
	c.stop()
}

// Blobs passes each content to take with its index in names; take must not keep the content. A content of
// more than max bytes is passed as nil. After an error nothing more can be read.
func (c *Contents) Blobs(names []string, max int64, take func(i int, content []byte)) error {
	if err := checkSHAs(names...); err != nil {
		return err
	}
	return c.ask(names, func() error {
		for i := range names {
			content, _, err := readBlob(c.answers, max)
			if err != nil {
				return fmt.Errorf("read files: %w", err)
			}
			take(i, content)
		}
		return nil
	})
}

// ask sends the names to git and reads the answers. It stops git if not all answers were read: git would wait for
// ever for a reader of the others, and Close for git.
func (c *Contents) ask(names []string, read func() error) error {
	if len(names) == 0 {
		return nil
	}
	c.begin()
	complete := false // not if read panics, either
	defer func() {
		if !complete {
			c.stop()
		}
	}()
	// Git reads the whole request before it answers.
	_, err := io.WriteString(c.questions, "contents "+strings.Join(names, "\ncontents ")+"\nflush\n")
	if err == nil {
		err = read()
	}
	complete = err == nil
	return err
}

// readBlob reads one answer of "git cat-file --batch-command": "<name> blob <size>", that many bytes and a
// line feed; or "<name> missing", as for a side without the file. See https://git-scm.com/docs/git-cat-file.
func readBlob(in *bufio.Reader, max int64) (content []byte, unread bool, err error) {
	header, err := in.ReadString('\n')
	if err != nil {
		return nil, false, err
	}
	f := strings.Fields(header)
	if len(f) == 2 && f[1] == "missing" && strings.Trim(f[0], "0") == "" {
		return nil, false, nil
	}
	if len(f) != 3 || f[1] != "blob" {
		return nil, false, fmt.Errorf("git cat-file printed %q", strings.TrimSpace(header))
	}
	size, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil || size < 0 {
		return nil, false, fmt.Errorf("git cat-file printed %q", strings.TrimSpace(header))
	}
	if size > max {
		_, err = io.CopyN(io.Discard, in, size+1)
		return nil, true, err
	}
	content = make([]byte, size+1)
	if _, err := io.ReadFull(in, content); err != nil {
		return nil, false, err
	}
	content, feed := content[:size], content[size:]
	if !bytes.Equal(feed, []byte("\n")) {
		return nil, false, errors.New("git cat-file printed more than it announced")
	}
	return content, false, nil
}
