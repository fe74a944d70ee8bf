package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"

	"touchstone/agent/config"
	"touchstone/scripts/clones"
)

const (
	// before is the number of base commits that keep their messages; most bounds the commits of the pull
	// request.
	before = 8
	most   = 30
	// topic is the pull request's branch.
	topic = "topic"
)

// repository creates the bare repository that GitHub serves, with main and the pull request's branch. It
// returns the pull request's title.
func (o options) repository(ctx context.Context, dir string) (title string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	r := clones.Repository{Context: ctx, Dir: dir}
	if _, err := r.Git(nil, "init", "--quiet", "--bare", "--initial-branch=main"); err != nil {
		return "", err
	}
	source := clones.Repository{Context: ctx, Dir: o.clone}
	objects, err := source.Git(nil, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "objects", "info", "alternates"), []byte(objects+"\n"), 0o600); err != nil {
		return "", err
	}
	settings, err := o.settings()
	if err != nil {
		return "", err
	}
	base, err := o.commits(source, r, settings, "", "-"+fmt.Sprint(before), o.base)
	if err != nil {
		return "", err
	}
	head, err := o.commits(source, r, settings, base, "-"+fmt.Sprint(most), o.base+".."+o.head)
	if err != nil {
		return "", err
	}
	tip := base
	if o.main != "" {
		if tip, err = o.commits(source, r, settings, base, "-"+fmt.Sprint(most), o.base+".."+o.main); err != nil {
			return "", err
		}
	}
	for branch, commit := range map[string]string{"main": tip, topic: head} {
		if _, err := r.Git(nil, "update-ref", "refs/heads/"+branch, commit); err != nil {
			return "", err
		}
	}
	if o.title != "" {
		return o.title, nil
	}
	subjects, err := r.Git(nil, "log", "--reverse", "--format=%s", base+".."+head)
	title, _, _ = strings.Cut(subjects, "\n")
	return title, err
}

// settings returns the repository's settings, as the file that contains them.
func (o options) settings() (map[string]string, error) {
	if o.verify == "" {
		return nil, nil
	}
	text, err := yaml.Marshal(map[string]any{"verify": map[string]any{"command": []string{"sh", "-c", o.verify}}})
	return map[string]string{config.RepositoryPath: string(text)}, err
}

// commits recreates the commits of a range of another repository, with more files, on top of a parent, and
// returns the last one. If the range is empty, its end becomes one commit.
func (o options) commits(source, r clones.Repository, more map[string]string, parent, limit, commits string) (string, error) {
	listed, err := source.Git(nil, "rev-list", "--first-parent", "--reverse", limit, commits)
	if err != nil {
		return "", err
	}
	all := strings.Fields(listed)
	if len(all) == 0 {
		_, end, _ := strings.Cut(commits, "..")
		all = []string{end}
	}
	for _, c := range all {
		message, err := source.Git(nil, "log", "-1", "--format=%B", c)
		if err != nil {
			return "", err
		}
		if c, err = source.Git(nil, "rev-parse", c+"^{commit}"); err != nil {
			return "", err
		}
		var parents []string
		if parent != "" {
			parents = []string{parent}
		}
		if parent, err = r.Commit(c, message, more, parents...); err != nil {
			return "", err
		}
	}
	return parent, nil
}
