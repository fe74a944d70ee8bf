package bare

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	gitobject "github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// history reads and creates commits of one repository without a git process, because a simulated GitHub would
// otherwise run dozens of them for each review. It caches what it reads, since commits never change.
type history struct {
	dir string
	// Now returns the time of new commits.
	Now func() time.Time

	mu      sync.Mutex
	store   *filesystem.Storage
	commits map[string]Commit
	// comparisons are the computed comparisons, by merge base and head.
	comparisons map[[2]string]*Comparison
}

// maxRead limits the objects cached in memory after reading, in bytes.
const maxRead = cache.MiByte

// object runs do to read an object. If the object is missing, it reopens the storage and tries once more,
// because an open storage does not see packs that were added later.
func (h *history) object(do func(*filesystem.Storage) error) error {
	for fresh := h.store == nil; ; fresh = true {
		if fresh {
			h.store = filesystem.NewStorage(osfs.New(h.dir), cache.NewObjectLRU(maxRead))
		}
		if err := do(h.store); fresh || !errors.Is(err, plumbing.ErrObjectNotFound) {
			return err
		}
	}
}

// Commit reads one commit by its full SHA.
func (h *history) Commit(sha string) (Commit, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.read(sha)
}

// read is Commit for callers that hold the lock.
func (h *history) read(sha string) (Commit, error) {
	if known, ok := h.commits[sha]; ok {
		return known, nil
	}
	var found *gitobject.Commit
	err := h.object(func(store *filesystem.Storage) (err error) {
		found, err = gitobject.GetCommit(store, plumbing.NewHash(sha))
		return err
	})
	if err != nil {
		return Commit{}, fmt.Errorf("read commit %s: %w", sha, err)
	}
	cm := Commit{
		SHA: sha, Tree: found.TreeHash.String(), Author: found.Author, Committer: found.Committer,
		Message: strings.TrimSuffix(found.Message, "\n"),
	}
	for _, parent := range found.ParentHashes {
		cm.Parents = append(cm.Parents, parent.String())
	}
	h.commits[sha] = cm
	return cm, nil
}

// walk visits tip and its ancestors, each commit after its parents. It skips the commits in seen with their
// ancestors, and adds what it visits to seen.
func (h *history) walk(tip string, seen map[string]bool, visit func(Commit)) error {
	type step struct {
		Commit
		next int // the parent to look at
	}
	var path []step
	enter := func(sha string) error {
		cm, err := h.read(sha)
		if err == nil {
			seen[sha] = true
			path = append(path, step{Commit: cm})
		}
		return err
	}
	if seen[tip] {
		return nil
	}
	if err := enter(tip); err != nil {
		return err
	}
	for len(path) > 0 {
		at := &path[len(path)-1]
		if at.next == len(at.Parents) {
			visit(at.Commit)
			path = path[:len(path)-1]
			continue
		}
		parent := at.Parents[at.next]
		at.next++
		if !seen[parent] {
			if err := enter(parent); err != nil {
				return err
			}
		}
	}
	return nil
}

// ancestors returns a commit and all its ancestors.
func (h *history) ancestors(sha string) (map[string]bool, error) {
	seen := map[string]bool{}
	return seen, h.walk(sha, seen, func(Commit) {})
}

// Between lists tip and its ancestors without from ("" for none) and its ancestors, the oldest first.
func (h *history) Between(from, tip string) ([]Commit, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	seen := map[string]bool{}
	if from != "" {
		var err error
		if seen, err = h.ancestors(from); err != nil {
			return nil, err
		}
	}
	var out []Commit
	err := h.walk(tip, seen, func(cm Commit) { out = append(out, cm) })
	return out, err
}

// Contains reports whether ancestor is sha or an ancestor of it.
func (h *history) Contains(sha, ancestor string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	seen, err := h.ancestors(sha)
	return err == nil && seen[ancestor]
}

var errNoCommonHistory = errors.New("the branches share no history")

// MergeBase returns the best common ancestor of two commits: one that is not an ancestor of another common
// ancestor; of several, the latest.
func (h *history) MergeBase(a, b string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	behind, err := h.ancestors(a)
	if err != nil {
		return "", err
	}
	var common []Commit
	if err := h.walk(b, map[string]bool{}, func(cm Commit) {
		if behind[cm.SHA] {
			common = append(common, cm)
		}
	}); err != nil {
		return "", err
	}
	if len(common) == 0 {
		return "", errNoCommonHistory
	}
	inner := map[string]bool{} // commits with a common child
	for _, cm := range common {
		for _, parent := range cm.Parents {
			inner[parent] = true
		}
	}
	best := slices.DeleteFunc(common, func(cm Commit) bool { return inner[cm.SHA] })
	return slices.MaxFunc(best, func(a, b Commit) int { return a.Committer.When.Compare(b.Committer.When) }).SHA, nil
}

// Entry finds a path in a commit; the root directory is "".
func (h *history) Entry(sha, name string) (found *gitobject.TreeEntry, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	cm, err := h.read(sha)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return &gitobject.TreeEntry{Mode: filemode.Dir, Hash: plumbing.NewHash(cm.Tree)}, nil
	}
	err = h.object(func(store *filesystem.Storage) error {
		root, err := gitobject.GetTree(store, plumbing.NewHash(cm.Tree))
		if err == nil {
			found, err = root.FindEntry(name)
		}
		return err
	})
	return found, err
}

// Files returns the files of a tree, by path: the mode and the hash of each file.
func (h *history) Files(tree string) (map[string]string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	files := map[string]string{}
	err := h.object(func(store *filesystem.Storage) error {
		root, err := gitobject.GetTree(store, plumbing.NewHash(tree))
		if err != nil {
			return err
		}
		walker := gitobject.NewTreeWalker(root, true, nil)
		defer walker.Close()
		for {
			name, entry, err := walker.Next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if entry.Mode != filemode.Dir {
				files[name] = entry.Mode.String() + " " + entry.Hash.String()
			}
		}
	})
	return files, err
}

// CommitTree creates a commit of a tree; author and committer are "Name <email>".
func (h *history) CommitTree(tree, author, committer, message string, parents ...string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	sign := func(ident string) gitobject.Signature {
		name, email, _ := strings.Cut(ident, " <")
		return gitobject.Signature{Name: name, Email: strings.TrimSuffix(email, ">"), When: h.Now()}
	}
	made := gitobject.Commit{
		TreeHash: plumbing.NewHash(tree), Author: sign(author), Committer: sign(committer), Message: strings.TrimSuffix(message, "\n") + "\n",
	}
	for _, parent := range parents {
		made.ParentHashes = append(made.ParentHashes, plumbing.NewHash(parent))
	}
	var id plumbing.Hash
	err := h.object(func(store *filesystem.Storage) (err error) {
		encoded := store.NewEncodedObject()
		if err := made.Encode(encoded); err != nil {
			return err
		}
		id, err = store.SetEncodedObject(encoded)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("make a commit: %w", err)
	}
	return id.String(), nil
}

// edit creates a tree from another one, or from nothing if tree is "", with these files added. A file with an
// empty text is deleted.
func (h *history) edit(tree string, files map[string]string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var made plumbing.Hash
	err := h.object(func(store *filesystem.Storage) (err error) {
		made, _, err = edited(store, plumbing.NewHash(tree), files)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("make a tree: %w", err)
	}
	return made.String(), nil
}

// edited is edit for one directory; any reports whether the new directory has entries.
func edited(store *filesystem.Storage, tree plumbing.Hash, files map[string]string) (made plumbing.Hash, any bool, err error) {
	entries := map[string]gitobject.TreeEntry{}
	if !tree.IsZero() {
		before, err := gitobject.GetTree(store, tree)
		if err != nil {
			return made, false, err
		}
		for _, e := range before.Entries {
			entries[e.Name] = e
		}
	}
	below := map[string]map[string]string{}
	for name, text := range files {
		first, rest, deeper := strings.Cut(name, "/")
		switch {
		case deeper && below[first] == nil:
			below[first] = map[string]string{rest: text}
		case deeper:
			below[first][rest] = text
		case text == "":
			delete(entries, name)
		default:
			blob := &plumbing.MemoryObject{}
			blob.SetType(plumbing.BlobObject)
			_, _ = blob.Write([]byte(text))                 // in memory, never fails
			if store.HasEncodedObject(blob.Hash()) != nil { // avoid writing it again
				if _, err := store.SetEncodedObject(blob); err != nil {
					return made, false, err
				}
			}
			entries[name] = gitobject.TreeEntry{Name: name, Mode: filemode.Regular, Hash: blob.Hash()}
		}
	}
	for name, files := range below {
		inner := entries[name].Hash
		if entries[name].Mode != filemode.Dir {
			inner = plumbing.ZeroHash
		}
		id, any, err := edited(store, inner, files)
		if err != nil {
			return made, false, err
		}
		if delete(entries, name); any {
			entries[name] = gitobject.TreeEntry{Name: name, Mode: filemode.Dir, Hash: id}
		}
	}
	after := gitobject.Tree{Entries: slices.Collect(maps.Values(entries))}
	sort.Sort(gitobject.TreeEntrySorter(after.Entries))
	encoded := store.NewEncodedObject()
	if err := after.Encode(encoded); err != nil {
		return made, false, err
	}
	made, err = store.SetEncodedObject(encoded)
	return made, len(entries) > 0, err
}
