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
	"touchstone/worktree/steps"
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
func (o options) repository(ctx context.Context, dir string) (title string) {
	steps.Must(os.MkdirAll(dir, 0o700))
	r, source := clones.Repository{Context: ctx, Dir: dir}, clones.Repository{Context: ctx, Dir: o.clone}
	r.Git(nil, "init", "--quiet", "--bare", "--initial-branch=main")
	objects := source.Git(nil, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	steps.Must(os.WriteFile(filepath.Join(dir, "objects", "info", "alternates"), []byte(objects+"\n"), 0o600))
	base := o.commits(source, r, "", before, o.base)
	head := o.commits(source, r, base, most, o.base+".."+o.head)
	tip := base
	if o.main != "" {
		tip = o.commits(source, r, base, most, o.base+".."+o.main)
	}
	r.Git(nil, "update-ref", "refs/heads/main", tip)
	r.Git(nil, "update-ref", "refs/heads/"+topic, head)
	if o.title != "" {
		return o.title
	}
	title, _, _ = strings.Cut(r.Git(nil, "log", "--reverse", "--format=%s", base+".."+head), "\n")
	return title
}

// settings returns the repository's settings, as the file that contains them.
func (o options) settings() map[string]string {
	if o.verify == "" {
		return nil
	}
	text := steps.Got(yaml.Marshal(map[string]any{"verify": map[string]any{"command": []string{"sh", "-c", o.verify}}}))
	return map[string]string{config.RepositoryPath: string(text)}
}

// commits recreates the last commits of a range of another repository, with the settings, on top of a parent, and
// returns the last one. If the range is empty, its end becomes one commit.
func (o options) commits(source, r clones.Repository, parent string, limit int, commits string) string {
	all := strings.Fields(source.Git(nil, "rev-list", "--first-parent", "--reverse", fmt.Sprintf("-%d", limit), commits))
	if len(all) == 0 {
		_, end, _ := strings.Cut(commits, "..")
		all = []string{end}
	}
	for _, c := range all {
		message := source.Git(nil, "log", "-1", "--format=%B", c)
		var parents []string
		if parent != "" {
			parents = []string{parent}
		}
		parent = r.Commit(source.Git(nil, "rev-parse", c+"^{commit}"), message, o.settings(), parents...)
	}
	return parent
}
