// Package remoteguidelines owns where an organization's own guideline documents come from: a
// directory of this machine, or a repository for all of them. Of a repository it keeps in
// memory what it read last, and asks each time which commit that was.
package remoteguidelines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"touchstone/agent/config"
	"touchstone/agent/forge"
)

// Dir is where a repository has its guideline documents.
const Dir = config.RepositoryDir + "/guidelines"

// Texts gives the texts of guideline documents by their names. Without all of them there
// is an error: a review by half of the rules would judge by another law.
type Texts func(ctx context.Context) (map[string]string, error)

// Reader reads a repository on GitHub.
type Reader interface {
	Commit(ctx context.Context, repo forge.Repo, rev string) (sha string, err error)
	Files(ctx context.Context, repo forge.Repo, rev, dir string) ([]string, error)
	File(ctx context.Context, repo forge.Repo, rev, path string) ([]byte, error)
}

// Guidelines is where the configuration has them: an absolute directory, or a repository as
// owner/name or owner/name@ref, where ref is a branch, a tag or a commit. Empty is nil.
func Guidelines(where string, github Reader) (Texts, error) {
	switch {
	case where == "":
		return nil, nil
	case filepath.IsAbs(where):
		// What this machine's configuration names may have links: what is mounted into a container often does.
		return func(context.Context) (map[string]string, error) { return readDir(where, os.Stat) }, nil
	}
	name, ref, pinned := strings.Cut(where, "@")
	repo, err := forge.ParseRepo(name)
	if err != nil {
		return nil, fmt.Errorf("guidelines: %w", err)
	}
	if !pinned {
		ref = "HEAD"
	}
	return (&repository{repo: repo, ref: ref, read: github}).texts, nil
}

// repository is a repository with documents, and what was last read of it.
type repository struct {
	repo forge.Repo
	ref  string
	read Reader

	mu   sync.Mutex
	sha  string
	last map[string]string
}

func (r *repository) texts(ctx context.Context) (map[string]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	texts, err := r.fresh(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the organization's guidelines in %s at %s: %w", r.repo, r.ref, err)
	}
	return texts, nil
}

func (r *repository) fresh(ctx context.Context) (map[string]string, error) {
	sha, err := r.read.Commit(ctx, r.repo, r.ref)
	if err != nil || sha == r.sha {
		return r.last, err
	}
	texts, err := documents(ctx, r.read, r.repo, sha)
	if err == nil && len(texts) == 0 {
		err = fmt.Errorf("%s contains no document", Dir)
	}
	if err != nil {
		return nil, err
	}
	r.sha, r.last = sha, texts
	return texts, nil
}

// Own gives the documents that a repository has of its own at the tip of a branch, or of its default branch where
// that one is gone; none is no error.
func Own(ctx context.Context, github Reader, repo forge.Repo, branch string) (map[string]string, error) {
	sha, err := github.Commit(ctx, repo, branch)
	if errors.Is(err, forge.ErrNotFound) {
		sha, err = github.Commit(ctx, repo, "HEAD")
	}
	texts := map[string]string{}
	if err == nil {
		texts, err = documents(ctx, github, repo, sha)
		if errors.Is(err, forge.ErrNotFound) { // as it also is behind a link in the place of the directory above
			texts = map[string]string{}
			_, err = github.Files(ctx, repo, sha, config.RepositoryDir)
		}
	}
	switch {
	case errors.Is(err, forge.ErrNotFound):
		return map[string]string{}, nil
	case err != nil:
		return nil, fmt.Errorf("read the guidelines of %s on %s: %w", repo, branch, err)
	}
	return texts, nil
}

// documents reads those of a repository at a commit.
func documents(ctx context.Context, github Reader, repo forge.Repo, sha string) (map[string]string, error) {
	files, err := github.Files(ctx, repo, sha, Dir)
	if err != nil {
		return nil, err
	}
	return read(Dir, files, func(name string) ([]byte, error) { return github.File(ctx, repo, sha, path.Join(Dir, name)) })
}
