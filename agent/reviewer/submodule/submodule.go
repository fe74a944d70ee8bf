// Package submodule judges the submodules that a change moves to another commit. No review sees what that commit
// brings, so such a move needs a person, unless it is as ordinary as an update in a lock file: to a later commit of the
// same repository, on the branch that it follows. GitHub serves the commits of each fork under the address of the
// repository itself, so that a commit is not yet the repository's own because it can be fetched there.
//
// It asks only the GitHub of the pull request, about repositories that the base names, and stores nothing. Its rule is
// row S14 of the security guideline.
package submodule

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"touchstone/agent/forge"
	"touchstone/agent/reviewer/suspect"
	"touchstone/verdict"
	"touchstone/worktree"
	"touchstone/worktree/diff"
)

// GitHub says which repository an address names, and how its commits stand to each other. A forge.Client implements it.
type GitHub interface {
	Cloned(of forge.Repo, address string) (forge.Repo, error)
	Tip(ctx context.Context, repo forge.Repo, branch string) (forge.Branch, error)
	Compare(ctx context.Context, repo forge.Repo, base, head string) (forge.Comparison, error)
}

// Files reads .gitmodules in a commit or tree, and says where it has submodules. A worktree.Tree implements it.
type Files interface {
	Submodules(ctx context.Context, rev string) ([]worktree.Submodule, error)
	SubmodulePaths(ctx context.Context, rev string) (map[string]bool, error)
}

const (
	// maxAsked bounds the submodules of one change about which GitHub is asked; patience bounds the time for all of them.
	maxAsked = 10
	patience = time.Minute
	// maxDoubt bounds the text of one reason, in bytes.
	maxDoubt = 300
)

// Judge judges the moves of one pull request.
type Judge struct {
	GitHub GitHub
	Files  Files
	// Of is the pull request's repository, and Branch the name of its base branch.
	Of     forge.Repo
	Branch string
}

// Moved judges each submodule that a change adds or moves: it is evidence if the move is certainly ordinary, else a
// hold that says what is not certain. A GitHub that does not answer is no error. It also holds a change that decides along
// what other submodules may move from then on.
func (j Judge) Moved(ctx context.Context, d diff.Diff) (holds []verdict.Hold, evidence []verdict.Evidence, err error) {
	files := All(d)
	listed := slices.ContainsFunc(d.Files, func(f diff.File) bool { return f.Path == modulesName })
	if len(files) == 0 && !listed {
		return nil, nil, nil
	}
	limited, cancel := context.WithTimeout(forge.Beside(ctx, j.Of), patience)
	defer cancel()
	entered, errBefore := j.Files.Submodules(limited, d.Base)
	enters, errAfter := j.Files.Submodules(limited, d.Head)
	before, after := byPath(entered), byPath(enters)
	asked := 0
	for _, f := range files {
		var move suspect.Move
		var err error
		switch {
		case f.Status != "modified" || f.OldMode != mode:
			err = errors.New("there was no submodule at this path on the base")
		case errBefore != nil:
			err = unread("base", errBefore)
		case errAfter != nil:
			err = unread("change", errAfter)
		case asked == maxAsked:
			err = fmt.Errorf("the change moves more than %d submodules", maxAsked)
		default:
			asked++
			move, err = j.move(limited, f, before, after)
		}
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			holds = append(holds, suspect.Elsewhere(f.Path, f.NewBlob, verdict.Clip(verdict.OneLine(err.Error()), maxDoubt)))
			continue
		}
		evidence = append(evidence, suspect.Moved(f.Path, move))
	}
	switch {
	case !listed || errors.Is(errAfter, fs.ErrNotExist) || errors.Is(errAfter, fs.ErrInvalid) || errors.Is(errAfter, worktree.ErrTooLarge):
		return holds, evidence, nil // without a list, each move is held
	case errAfter != nil && len(files) > 0: // held above, for this reason
		return holds, evidence, nil
	case errAfter != nil:
		return append(holds, suspect.Redirected(modulesName, nil)), evidence, nil
	}
	there, err := j.Files.SubmodulePaths(ctx, d.Head)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		delete(there, f.Path) // it is judged above
	}
	if names := j.redirected(before, after, there); len(names) > 0 {
		holds = append(holds, suspect.Redirected(modulesName, names))
	}
	return holds, evidence, nil
}

// modulesName is the file with the addresses of the submodules.
const modulesName = ".gitmodules"

// redirected are the submodules, among those at some paths, that move along another branch of another repository once a change
// is merged. Whoever may push there decides what a later change brings without a person.
func (j Judge) redirected(before, after entries, there map[string]bool) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(there)) {
		now, err := j.upstream(name, after)
		if err != nil { // each move is held
			continue
		}
		was, err := j.upstream(name, before)
		if err != nil || was.Name != now.Name || !strings.EqualFold(was.Repo.String(), now.Repo.String()) {
			names = append(names, name)
		}
	}
	return names
}

// upstream is the branch along which the submodule at a path moves.
func (j Judge) upstream(name string, listed entries) (forge.Branch, error) {
	entry, err := listed.of(name)
	if err != nil {
		return forge.Branch{}, err
	}
	return j.follows(entry)
}

// mode is git's mode of a submodule.
const mode = "160000"

// All are the submodules that a change adds or moves.
func All(d diff.Diff) (moved []diff.File) {
	for _, f := range d.Files {
		if f.Submodule && f.NewMode == mode {
			moved = append(moved, f)
		}
	}
	return moved
}

// unread is the reason when .gitmodules of one side cannot be read.
func unread(side string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the %s has no .gitmodules", side)
	case errors.Is(err, fs.ErrInvalid):
		return fmt.Errorf(".gitmodules of the %s is not a plain file", side)
	case errors.Is(err, worktree.ErrTooLarge):
		return fmt.Errorf(".gitmodules of the %s is too large", side)
	}
	return fmt.Errorf(".gitmodules of the %s cannot be read: %w", side, err)
}

// move is the move of a submodule that was at this path before. The error is the reason why it may not be ordinary.
func (j Judge) move(ctx context.Context, f diff.File, before, after entries) (suspect.Move, error) {
	entry, err := before.of(f.Path)
	if err != nil {
		return suspect.Move{}, fmt.Errorf("the base's .gitmodules %w", err)
	}
	now, err := after.of(f.Path)
	if err != nil {
		return suspect.Move{}, fmt.Errorf("the change's .gitmodules %w", err)
	}
	if now.Name != entry.Name || !slices.Equal(now.Settings, entry.Settings) {
		return suspect.Move{}, errors.New("the change alters its entry in .gitmodules")
	}
	along, err := j.follows(entry)
	if err != nil {
		return suspect.Move{}, err
	}
	return j.along(ctx, along, f.OldBlob, f.NewBlob)
}

// follows is the branch along which an entry's submodule moves, without its commit. Its name is empty for the repository's
// default branch. The error is a whole reason.
func (j Judge) follows(entry worktree.Submodule) (forge.Branch, error) {
	repo, err := j.GitHub.Cloned(j.Of, entry.Value("url"))
	if err != nil {
		return forge.Branch{}, fmt.Errorf("its address in .gitmodules %w", err)
	}
	name := entry.Value("branch")
	switch {
	case name == "" && entry.Has("branch"):
		return forge.Branch{}, errors.New("its entry in .gitmodules does not name one branch")
	case name == ".": // https://git-scm.com/docs/gitmodules#Documentation/gitmodules.txt-submoduleltnamegtbranch
		name = j.Branch
	}
	return forge.Branch{Repo: repo, Name: name}, nil
}

// entries are the entries of .gitmodules, by the paths that they name.
type entries map[string][]worktree.Submodule

func byPath(all []worktree.Submodule) entries {
	found := entries{}
	for _, s := range all {
		for _, line := range s.Settings {
			name := path.Clean(line.Value)
			if known := found[name]; line.Key == "path" && (len(known) == 0 || known[len(known)-1].Name != s.Name) {
				found[name] = append(known, s)
			}
		}
	}
	return found
}

// of is the entry for a path. The error completes "the .gitmodules …".
func (e entries) of(name string) (worktree.Submodule, error) {
	found := e[path.Clean(name)]
	switch {
	case len(found) == 0:
		return worktree.Submodule{}, errors.New("has no entry for it")
	case len(found) > 1:
		return worktree.Submodule{}, errors.New("has several entries for it")
	}
	entry := found[0]
	switch {
	case entry.Value("path") != name:
		return worktree.Submodule{}, errors.New("has an entry for it with another path as well")
	case entry.Value("url") == "":
		return worktree.Submodule{}, errors.New("does not give it one address")
	case entry.Name == "" || slices.Contains(strings.FieldsFunc(entry.Name, func(r rune) bool { return r == '/' || r == '\\' }), ".."):
		return worktree.Submodule{}, errors.New("calls it by a name that git refuses")
	}
	return entry, nil
}

// along is the move from one commit to another along a branch, as follows returns it.
func (j Judge) along(ctx context.Context, branch forge.Branch, from, to string) (suspect.Move, error) {
	repo := branch.Repo
	tip, err := j.GitHub.Tip(ctx, repo, branch.Name)
	if err != nil {
		return suspect.Move{}, silent(err)
	}
	there, err := j.GitHub.Compare(ctx, repo, to, tip.SHA)
	if err != nil {
		return suspect.Move{}, silent(err)
	}
	if !there.Contains {
		return suspect.Move{}, fmt.Errorf("the commit is not on the branch %s of %s, and GitHub also serves commits that only a fork has",
			tip.Name, repo)
	}
	way, err := j.GitHub.Compare(ctx, repo, from, to)
	if err != nil {
		return suspect.Move{}, silent(err)
	}
	if !way.Contains || way.Ahead == 0 {
		return suspect.Move{}, fmt.Errorf("it does not contain %.12s, where the submodule was: it moves back, or to another history", from)
	}
	return suspect.Move{From: from, To: to, Repo: repo.String(), Branch: tip.Name, Commits: way.Ahead, URL: way.URL}, nil
}

// silent is the reason when GitHub says nothing.
func silent(err error) error {
	return fmt.Errorf("GitHub does not say where its commits stand: %w", err)
}
