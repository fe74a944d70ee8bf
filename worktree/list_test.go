package worktree

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"touchstone/worktree/await"
)

func TestListAndBlobsAreTheRegularFilesOfACommit(t *testing.T) {
	r := newRemote(t)
	r.write("a/b.txt", "one\n")
	r.write("large.txt", strings.Repeat("x", 101))
	req := r.pull()
	tree := acquire(t, &Store{Root: t.TempDir()}, req)
	must(t, writeFile(tree.Dir()+"/a/b.txt", "in the tree\n"))
	entries, err := tree.List(t.Context(), req.Head)
	if err != nil {
		t.Fatal(err)
	}
	var names, blobs []string
	for _, e := range entries {
		names, blobs = append(names, e.Path), append(blobs, e.Blob)
	}
	if !slices.Contains(names, "a/b.txt") || !slices.Contains(names, "large.txt") || !slices.IsSorted(names) {
		t.Fatalf("listed %q", names)
	}
	contents := tree.Contents(t.Context())
	defer contents.Close()
	got := map[string]string{}
	err = contents.Blobs(blobs, 100, func(i int, content []byte) {
		if content == nil {
			got[names[i]] = "too long"
			return
		}
		got[names[i]] = string(content)
	})
	if err != nil || got["a/b.txt"] != "one\n" || got["large.txt"] != "too long" || len(got) != len(names) {
		t.Errorf("read %q, %v", got, err)
	}
	if _, err := tree.List(t.Context(), "--output=x"); err == nil {
		t.Error("an option passes for a commit")
	}
	if err := contents.Blobs([]string{strings.Repeat("1", 40)}, 100, func(int, []byte) {}); err == nil {
		t.Error("a content that is not there is no error")
	}
}

// TestAnEndedContextEndsReading ends the context also in the middle of an answer, which git then leaves
// unfinished.
func TestAnEndedContextEndsReading(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	r.write("a.txt", "one\n")
	r.write("large.txt", strings.Repeat("x", 8<<20))
	req := r.pull()
	tree := acquire(t, &Store{Root: t.TempDir()}, req)
	entries, err := tree.List(t.Context(), req.Head)
	if err != nil {
		t.Fatal(err)
	}
	var blobs []string
	for _, e := range entries {
		blobs = append(blobs, e.Blob)
	}
	ctx, cancel := context.WithCancel(t.Context())
	contents := tree.Contents(ctx)
	ended := make(chan error)
	go func() {
		err := contents.Blobs(blobs, 16<<20, func(int, []byte) { cancel() })
		contents.Close()
		ended <- err
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v", err)
		}
	case <-time.After(await.Patience):
		t.Fatal("it does not end")
	}
}

// TestFilesAreReadAtTheSameTime reads files and directories of a commit in several goroutines, as a review
// does.
func TestFilesAreReadAtTheSameTime(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	r.write("a/b.txt", "one\n")
	req := r.pull()
	tree := acquire(t, &Store{Root: t.TempDir()}, req)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			if text, err := tree.ReadFile(t.Context(), req.Head, "a/b.txt"); err != nil || string(text) != "one\n" {
				t.Errorf("read %q, %v", text, err)
			}
		})
		readers.Go(func() {
			if names, err := tree.ReadDir(t.Context(), req.Head, "a"); err != nil || !slices.Equal(names, []string{"b.txt"}) {
				t.Errorf("listed %q, %v", names, err)
			}
		})
	}
	readers.Wait()
}
