package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestContentTakesNoPlaceOfAnLFSPointer(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	pointer := func(of string) string {
		return "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat(of, 64) + "\nsize 12345\n"
	}
	r.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
	for _, name := range []string{"image.bin", "moved.bin", "gone.bin", "theirs.bin"} {
		r.write(name, pointer("1"))
	}
	r.write("plain.bin", "content from before LFS\n")
	must(t, os.Symlink("image.bin", filepath.Join(r.work, "link.bin")))
	req := r.pull()
	r.git("checkout", "-q", "main")
	r.write("theirs.bin", "content since its owner left LFS\n")
	req.Base = r.commit("refs/heads/main")
	tree := acquire(t, &Store{Root: t.TempDir()}, req)
	if got := read(t, tree.Dir(), "image.bin"); got != pointer("1") {
		t.Errorf("checked out is %q", got)
	}
	run(t, tree.Dir(), "git", "rm", "-q", "gone.bin")
	writeTest(t, filepath.Join(tree.Dir(), "moved.bin"), pointer("2"))
	writeTest(t, filepath.Join(tree.Dir(), "image.bin"), "\x00content")
	if _, err := tree.Commit(t.Context(), "x", me); err == nil || !strings.Contains(err.Error(), `"image.bin" is kept in Git LFS`) {
		t.Errorf("the commit ends in %v", err)
	}
	writeTest(t, filepath.Join(tree.Dir(), "image.bin"), pointer("1"))
	writeTest(t, filepath.Join(tree.Dir(), "new.bin"), "content\n")
	if _, err := tree.Commit(t.Context(), "x", me); err == nil || !strings.Contains(err.Error(), `"new.bin" belongs in Git LFS`) {
		t.Errorf("the commit ends in %v", err)
	}
	writeTest(t, filepath.Join(tree.Dir(), "new.bin"), "")
	must(t, os.Remove(filepath.Join(tree.Dir(), "link.bin")))
	writeTest(t, filepath.Join(tree.Dir(), "link.bin"), "content\n")
	if _, err := tree.Commit(t.Context(), "x", me); err == nil || !strings.Contains(err.Error(), `"link.bin" belongs in Git LFS`) {
		t.Errorf("the commit ends in %v", err)
	}
	must(t, os.Remove(filepath.Join(tree.Dir(), "link.bin")))
	run(t, tree.Dir(), "git", "mv", "main.txt", "main.bin")
	if _, err := tree.Commit(t.Context(), "x", me); err == nil || !strings.Contains(err.Error(), `"main.bin" belongs in Git LFS`) {
		t.Errorf("the commit ends in %v", err)
	}
	run(t, tree.Dir(), "git", "mv", "main.bin", "main.txt")
	writeTest(t, filepath.Join(tree.Dir(), "copied.bin"), pointer("1"))
	writeTest(t, filepath.Join(tree.Dir(), "new.txt"), "content\n")
	run(t, tree.Dir(), "git", "mv", "plain.bin", "elsewhere.bin")
	if _, err := tree.Commit(t.Context(), "x", me); err != nil {
		t.Errorf("pointers cannot be changed or deleted: %v", err)
	}
	// A conflict elsewhere, so that the merge is concluded by Commit.
	writeTest(t, filepath.Join(tree.Dir(), "main.txt"), "ours\n")
	commit(t, tree, "x")
	r.write("main.txt", "theirs\n")
	r.write("more.bin", "content that its owner adds without LFS\n")
	main := r.commit("refs/heads/main")
	run(t, tree.Dir(), "git", "fetch", "-q", r.bare, "main")
	if merge, err := tree.Merge(t.Context(), main, "Merge main", me); err != nil || len(merge.Conflicts) != 1 {
		t.Fatalf("%+v, %v", merge, err)
	}
	must(t, tree.TakeBase(t.Context(), "main.txt"))
	if _, err := tree.Commit(t.Context(), "Merge main", me); err != nil {
		t.Errorf("what the base did with its own files is refused: %v", err)
	}
}

// TestACommitOutlivesARepack repacks the mirror, as another process may do at any time, between a read and a commit.
func TestACommitOutlivesARepack(t *testing.T) {
	t.Parallel()
	req := newRemote(t).pull()
	tree := acquire(t, &Store{Root: t.TempDir()}, req)
	if _, err := tree.ReadFile(t.Context(), req.Head, "topic.txt"); err != nil {
		t.Fatal(err)
	}
	run(t, tree.home.Mirror(), "git", "repack", "-a", "-d", "-f", "-q", "--depth=1")
	writeTest(t, filepath.Join(tree.Dir(), "main.txt"), "ours\n")
	if _, err := tree.Commit(t.Context(), "x", me); err != nil {
		t.Error(err)
	}
}
