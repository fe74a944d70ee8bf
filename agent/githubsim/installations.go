package githubsim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"touchstone/worktree/steps"
)

// installation is an app installed at an owner of repositories.
type installation struct {
	id        int64
	app       *account
	owner     string
	repos     []*repo // the selected ones; nil for all of the owner's
	suspended time.Time
	created   time.Time
}

// covers reports whether a repository is part of the installation.
func (i *installation) covers(r *repo) bool {
	return strings.EqualFold(i.owner, r.Owner) && (i.repos == nil || slices.Contains(i.repos, r))
}

// role returns the role of the installation's token in a repository, as one of the roles for people.
func (i *installation) role() string { return i.app.registered.Permissions["contents"] }

// grant is what one token of an installation allows.
type grant struct {
	of      *installation
	repos   []*repo // the repositories that the token was requested for; nil for all of the installation's
	expires time.Time
}

func (g *grant) covers(r *repo) bool {
	return g == nil || g.of.covers(r) && (g.repos == nil || slices.Contains(g.repos, r))
}

// tokenLife is how long an installation's token is valid.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-an-installation-access-token-for-a-github-app
const tokenLife = time.Hour

// grantOf finds the grant of an installation's token; it returns nil for a token of another kind.
func (s *Sim) grantOf(token string) (*grant, error) {
	g := s.grants[token]
	switch {
	case g == nil:
		return nil, nil
	case !g.expires.After(s.Now()) || !slices.Contains(g.of.app.installations, g.of):
		return nil, errBadCredentials
	case !g.of.suspended.IsZero():
		return nil, errSuspended
	}
	return g, nil
}

var (
	errBadCredentials = refuse(http.StatusUnauthorized, "Bad credentials")
	errSuspended      = refuse(http.StatusForbidden, "This installation has been suspended")
)

// Install installs an app, by its login, at an owner with these repositories, or all of them if there are none
// in the list. They replace those that the app had there. A person does this on the app's page.
func (s *Sim) Install(app, owner string, repositories ...string) error {
	return s.do(func() {
		a := s.account(app)
		if a.registered == nil {
			steps.Fail("%s is not a registered app", app)
		}
		at := a.installationAt(owner)
		if at == nil {
			at = &installation{id: s.id(), app: a, owner: owner, created: s.Now()}
			a.installations = append(a.installations, at)
		}
		at.repos = nil
		for _, name := range repositories {
			_, name, _ = strings.Cut(name, "/")
			at.repos = append(at.repos, s.repo(owner+"/"+name))
		}
	})
}

// Suspend suspends an app's installation at an owner, or resumes it.
func (s *Sim) Suspend(app, owner string, suspended bool) error {
	return s.do(func() {
		at := s.installation(app, owner)
		if at.suspended = (time.Time{}); suspended {
			at.suspended = s.Now()
		}
	})
}

// Uninstall removes an app's installation at an owner.
func (s *Sim) Uninstall(app, owner string) error {
	return s.do(func() {
		at := s.installation(app, owner)
		at.app.installations = slices.DeleteFunc(at.app.installations, func(other *installation) bool { return other == at })
	})
}

func (s *Sim) installation(app, owner string) *installation {
	return must(s.account(app).installationAt(owner), fmt.Errorf("%s is not installed at %s", app, owner))
}

func (a *account) installationAt(owner string) *installation {
	return find(a.installations, func(at *installation) bool { return strings.EqualFold(at.owner, owner) })
}

func (c *call) listInstallations() reply {
	return ok(each(page(c, c.user.installations), c.sim.renderInstallation))
}

func (c *call) getRepoInstallation() reply {
	at := must(find(c.user.installations, func(at *installation) bool { return at.covers(c.repo) }), errNotFound)
	return ok(c.sim.renderInstallation(at))
}

// createAccessToken creates a token of an installation, for all of its repositories or the requested ones.
// https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
func (c *call) createAccessToken() reply {
	at := must(find(c.user.installations, func(at *installation) bool { return at.id == c.id("installation") }), errNotFound)
	if !at.suspended.IsZero() {
		return fail(errSuspended)
	}
	var in struct{ Repositories []string }
	c.decode(&in)
	g := &grant{of: at, expires: c.sim.Now().Add(tokenLife)}
	for _, name := range in.Repositories {
		r := c.sim.findRepo(at.owner + "/" + name)
		if r == nil || !at.covers(r) {
			return fail(refuse(http.StatusUnprocessableEntity, "There is at least one repository that does not exist or is not "+
				"accessible to the parent installation."))
		}
		g.repos = append(g.repos, r)
	}
	token := "ghs_" + randomHex(18)
	c.sim.grants[token] = g
	return created(object{"token": token, "expires_at": stamp(g.expires), "permissions": at.app.registered.Permissions,
		"repository_selection": at.selection()})
}

func (i *installation) selection() string {
	if i.repos == nil {
		return "all"
	}
	return "selected"
}

func (s *Sim) renderInstallation(at *installation) object {
	self, by := s.api("/app/installations/%d", at.id), any(nil)
	account := s.renderOwnerOf(at.owner)
	if !at.suspended.IsZero() {
		by = account
	}
	return object{
		"id": at.id, "account": account, "repository_selection": at.selection(), "access_tokens_url": self + "/access_tokens",
		"repositories_url": s.api("/installation/repositories"), "html_url": s.url + "/organizations/" + at.owner + "/settings/installations/" +
			fmt.Sprint(at.id), "app_id": at.app.number(), "app_slug": at.app.slug(), "target_id": account["id"], "target_type": account["type"],
		"permissions": at.app.registered.Permissions, "events": at.app.registered.Events, "created_at": stamp(at.created),
		"updated_at": stamp(at.created), "single_file_name": nil, "suspended_by": by, "suspended_at": stamp(at.suspended),
	}
}
