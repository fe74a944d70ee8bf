package recovery

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-github/v66/github"

	"touchstone/worktree/githubname"
)

// Target is an owner of webhooks: a repository, an organization or a GitHub App. The zero Target is none.
type Target struct{ kind, name string }

// Kinds of targets, in words for people.
const (
	repository   = "repository"
	organization = "organization"
	app          = "app"
)

var appID = regexp.MustCompile(`^[0-9]{1,12}$`)

// ParseTarget reads "acme/app" (a repository), "acme" (an organization) or "app:12345" (a GitHub App by its
// id).
func ParseTarget(text string) (Target, error) {
	if id, ok := strings.CutPrefix(text, "app:"); ok && appID.MatchString(id) {
		return Target{app, id}, nil
	}
	switch {
	case githubname.IsRepository(text):
		return Target{repository, text}, nil
	case githubname.IsOwner(text):
		return Target{organization, text}, nil
	}
	return Target{}, fmt.Errorf("%q has no webhooks; write a repository such as acme/app, an organization such as acme, or "+
		"a GitHub App such as app:12345", text)
}

// String names the target for people.
func (t Target) String() string { return t.kind + " " + t.name }

// hooksPath returns the API's path of the target's hooks.
func (t Target) hooksPath() string {
	if t.kind == repository {
		return "repos/" + t.name + "/hooks"
	}
	return "orgs/" + t.name + "/hooks"
}

// hook is one webhook of a target.
type hook struct {
	target Target
	id     int64  // zero for an App, which has only one
	path   string // in the API
	source string // the relay's endpoint that it sends to
}

func (h hook) String() string {
	if h.target.kind == app {
		return h.target.String()
	}
	return fmt.Sprintf("%s, hook %d", h.target, h.id)
}

// hooks finds the target's hooks that send to this relay.
func (r *Recovery) hooks(ctx context.Context, t Target) ([]hook, error) {
	var found []hook
	if t.kind == app {
		var config github.HookConfig
		if _, err := r.github.call(ctx, t, http.MethodGet, "app/hook/config", nil, &config); err != nil {
			return nil, t.explain(err)
		}
		if source := r.sourceOf(config.GetURL()); source != "" {
			found = append(found, hook{target: t, path: "app/hook", source: source})
		}
	} else {
		all, err := r.github.hooks(ctx, t)
		if err != nil {
			return nil, err
		}
		for _, h := range all {
			if source := r.sourceOf(h.GetConfig().GetURL()); source != "" {
				found = append(found, hook{target: t, id: h.GetID(), path: fmt.Sprintf("%s/%d", t.hooksPath(), h.GetID()), source: source})
			}
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has no webhook for this relay, whose address would end in /webhooks/%s; create it with touchstone-relay "+
			"hook install, or in the settings on GitHub",
			t, strings.Join(r.config.Sources, " or /webhooks/"))
	}
	return found, nil
}

// sourceOf returns the source of this relay that a hook's address leads to; empty for none.
func (r *Recovery) sourceOf(address string) string {
	parsed, err := url.Parse(address)
	public := strings.TrimSuffix(r.config.PublicURL, "/")
	if err != nil || public != "" && !strings.HasPrefix(address, public+"/") {
		return ""
	}
	folder, source := path.Split(parsed.Path)
	if !strings.HasSuffix(folder, "/webhooks/") || !slices.Contains(r.config.Sources, source) {
		return ""
	}
	return source
}
