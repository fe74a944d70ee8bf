package githubsim

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	gitobject "github.com/go-git/go-git/v5/plumbing/object"

	"touchstone/agent/githubsim/bare"
	"touchstone/worktree/steps"
)

func (c *call) getRepo() reply { return ok(c.renderRepoFor()) }

func (c *call) getUser() reply { return ok(c.sim.renderProfile(c.user)) }

// account finds the account that the path names.
func (c *call) account() *account {
	return must(c.sim.findAccount(c.r.PathValue("login")), errNotFound)
}

func (c *call) getProfile(a *account) reply { return ok(c.sim.renderProfile(a)) }

func (c *call) getPermission(a *account) reply {
	if !c.repo.atLeast(c.user, "write") {
		return fail(refuse(http.StatusForbidden, "Must have push access to view collaborator permission."))
	}
	role, user := c.repo.permission(a), c.sim.renderUser(a)
	user["role_name"], user["permissions"] = role, c.repo.rights(a)
	// Map the five roles to the four of the older scale.
	// https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
	legacy := role
	switch role {
	case "maintain":
		legacy = "write"
	case "triage":
		legacy = "read"
	}
	return ok(object{"permission": legacy, "role_name": role, "user": user})
}

// getCommits serves the paths below /commits/{ref}, where ref can contain slashes.
func (c *call) getCommits() reply {
	path := c.r.PathValue("ref")
	ref, serve := path, (*call).getCommit
	for below, list := range map[string]func(c *call, sha string) reply{
		"/check-runs": (*call).listCheckRuns, "/status": (*call).combinedStatus, "/statuses": (*call).listStatuses,
	} {
		if branch, found := strings.CutSuffix(path, below); found {
			ref, serve = branch, list
		}
	}
	sha := steps.Got(c.resolve(ref))
	return serve(c, sha)
}

func (c *call) getCommit(sha string) reply { return ok(c.commit(sha)) }

// commit renders one commit by its SHA.
func (c *call) commit(sha string) object { return c.renderCommit(steps.Got(c.repo.git.Commit(sha))) }

func person(who gitobject.Signature) object {
	return object{"name": who.Name, "email": who.Email, "date": stamp(who.When)}
}

var unsigned = object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil}

// accountOf finds the account that commits with this address: its own address, or the one that GitHub gives it,
// under any host name.
func (s *Sim) accountOf(email string) *account {
	return find(s.accounts, func(a *account) bool {
		given := fmt.Sprintf("%d+%s@users.noreply.", a.id, a.Login)
		return strings.HasSuffix(a.ident(), " <"+email+">") || strings.HasPrefix(email, given)
	})
}

func (c *call) renderCommit(cm bare.Commit) object {
	self, html := c.sim.api("/repos/%s/commits/%s", c.repo.fullName(), cm.SHA), c.sim.url+"/"+c.repo.fullName()+"/commit/"
	parents := each(cm.Parents, func(sha string) object {
		return object{"sha": sha, "url": c.sim.api("/repos/%s/commits/%s", c.repo.fullName(), sha), "html_url": html + sha}
	})
	return object{
		"sha": cm.SHA, "node_id": "C_" + cm.SHA, "url": self, "html_url": html + cm.SHA, "comments_url": self + "/comments",
		"author": c.sim.renderUser(c.sim.accountOf(cm.Author.Email)), "committer": c.sim.renderUser(c.sim.accountOf(cm.Committer.Email)),
		"parents": parents,
		"commit": object{
			"message": cm.Message, "comment_count": 0, "verification": unsigned,
			"author": person(cm.Author), "committer": person(cm.Committer),
			"url":  c.sim.api("/repos/%s/git/commits/%s", c.repo.fullName(), cm.SHA),
			"tree": object{"sha": cm.Tree, "url": c.sim.api("/repos/%s/git/trees/%s", c.repo.fullName(), cm.Tree)},
		},
	}
}

// getComparison compares BASE...HEAD. Only the first page contains the files.
// https://docs.github.com/en/rest/commits/commits#compare-two-commits
func (c *call) getComparison() reply {
	from, to, found := strings.Cut(c.r.PathValue("basehead"), "...")
	base, baseErr := c.resolve(from)
	head, headErr := c.resolve(to)
	if !found || baseErr != nil || headErr != nil {
		return fail(errNotFound)
	}
	ahead, err := c.repo.git.Compare(c.ctx, base, head)
	if err != nil {
		return fail(refuse(http.StatusNotFound, "No common ancestor between %s and %s.", from, to))
	}
	behind := steps.Got(c.repo.git.Between(head, base))
	status := "diverged"
	switch {
	case base == head:
		status = "identical"
	case len(behind) == 0:
		status = "ahead"
	case len(ahead.Commits) == 0:
		status = "behind"
	}
	self, html := c.sim.api("/repos/%s/compare/%s...%s", c.repo.fullName(), from, to), c.sim.url+"/"+c.repo.fullName()+"/compare/"+from+"..."+
		to
	out := object{
		"url": self, "html_url": html, "permalink_url": html, "diff_url": html + ".diff", "patch_url": html + ".patch", "status": status,
		"base_commit": c.commit(base), "merge_base_commit": c.commit(ahead.MergeBase), "ahead_by": len(ahead.Commits),
		"behind_by": len(behind), "total_commits": len(ahead.Commits), "commits": each(page(c, ahead.Commits), c.renderCommit),
	}
	if atLeast(c.r.URL.Query().Get("page"), 1) == 1 {
		out["files"] = each(ahead.Files[:min(len(ahead.Files), maxDiffFiles)], func(f bare.File) object { return c.renderFile(f, head) })
	}
	return ok(out)
}

func (c *call) getGitCommit() reply {
	sha, err := c.resolve(c.r.PathValue("sha"))
	if err != nil {
		return fail(errNotFound)
	}
	full := c.commit(sha)
	inner := full["commit"].(object)
	return ok(object{
		"sha": sha, "node_id": full["node_id"], "url": inner["url"], "html_url": full["html_url"], "message": inner["message"],
		"author": inner["author"], "committer": inner["committer"], "tree": inner["tree"], "parents": full["parents"], "verification": unsigned,
	})
}

func (c *call) getRef() reply {
	ref := "refs/" + c.r.PathValue("ref")
	sha := c.repo.refs[ref]
	if sha == "" {
		return fail(errNotFound)
	}
	return ok(object{
		"ref": ref, "node_id": "REF_" + ref, "url": c.sim.api("/repos/%s/git/%s", c.repo.fullName(), ref),
		"object": object{"type": "commit", "sha": sha, "url": c.sim.api("/repos/%s/git/commits/%s", c.repo.fullName(), sha)},
	})
}

// movableRef finds the ref that the path names, and its commit, unless only GitHub itself may move it.
func (c *call) movableRef() (ref, at string) {
	ref = "refs/" + c.r.PathValue("ref")
	if c.repo.refs[ref] == "" || strings.HasPrefix(ref, "refs/pull/") {
		fail(refuse(http.StatusUnprocessableEntity, "Reference does not exist"))
	}
	return ref, c.repo.refs[ref]
}

// updateRef moves a ref, only forward unless force is set.
func (c *call) updateRef() reply {
	var in struct {
		SHA   string `json:"sha"`
		Force bool   `json:"force"`
	}
	c.decode(&in)
	ref, before := c.movableRef()
	if _, err := c.resolve(in.SHA); err != nil {
		return fail(refuse(http.StatusUnprocessableEntity, "Object does not exist"))
	}
	if !in.Force && !c.repo.git.Contains(in.SHA, before) {
		return fail(refuse(http.StatusUnprocessableEntity, "Update is not a fast forward"))
	}
	steps.Must(c.repo.git.UpdateRef(c.ctx, ref, in.SHA, before))
	c.sim.noticeRefs(c.ctx, c.repo, c.user)
	return c.getRef()
}

func (c *call) deleteRef() reply {
	ref, before := c.movableRef()
	steps.Must(c.repo.git.UpdateRef(c.ctx, ref, "", before))
	c.sim.noticeRefs(c.ctx, c.repo, c.user)
	return noContent()
}

func (c *call) getBranch() reply {
	name := c.r.PathValue("branch")
	sha := c.repo.refs["refs/heads/"+name]
	if sha == "" {
		return fail(refuse(http.StatusNotFound, "Branch not found"))
	}
	self := c.sim.api("/repos/%s/branches/%s", c.repo.fullName(), name)
	_, protected := c.repo.Protected[name]
	return ok(object{
		"name": name, "commit": c.commit(sha), "protected": protected, "protection_url": self + "/protection",
		"_links":     object{"self": self, "html": c.sim.url + "/" + c.repo.fullName() + "/tree/" + name},
		"protection": object{"enabled": protected},
	})
}

// getContents serves a file as JSON with base64, or a directory as a list.
func (c *call) getContents() reply {
	name := strings.Trim(c.r.PathValue("path"), "/")
	ref := cmp.Or(c.r.URL.Query().Get("ref"), c.repo.defaultBranch)
	sha, err := c.resolve(ref)
	if err != nil {
		return fail(refuse(http.StatusNotFound, "No commit found for the ref %s", ref))
	}
	entry, err := c.repo.git.Entry(sha, name)
	switch {
	case err != nil:
		return fail(errNotFound)
	case entry.Mode == filemode.Dir:
		return c.listDirectory(sha, name)
	}
	blob := entry.Hash.String()
	text := steps.Got(c.repo.git.RunWith(c.ctx, nil, "cat-file", "blob", blob))
	out := c.renderEntry(sha, name, blob, "file", len(text))
	out["encoding"], out["content"] = "base64", base64.StdEncoding.EncodeToString([]byte(text))
	return ok(out)
}

func (c *call) listDirectory(sha, dir string) reply {
	out := steps.Got(c.repo.git.Run(c.ctx, "ls-tree", "-z", "--format=%(objecttype)%x09%(objectname)%x09%(path)", sha+":"+dir))
	entries := []object{}
	for record := range strings.SplitSeq(strings.TrimRight(out, "\x00"), "\x00") {
		fields := strings.SplitN(record, "\t", 3)
		if len(fields) < 3 {
			continue
		}
		kind := "file"
		if fields[0] == "tree" {
			kind = "dir"
		}
		entries = append(entries, c.renderEntry(sha, path.Join(dir, fields[2]), fields[1], kind, 0))
	}
	return ok(entries)
}

func (c *call) renderEntry(ref, name, sha, kind string, size int) object {
	self := c.sim.api("/repos/%s/contents/%s?ref=%s", c.repo.fullName(), name, ref)
	blob, html := c.sim.api("/repos/%s/git/blobs/%s", c.repo.fullName(), sha), c.sim.url+"/"+c.repo.fullName()+"/blob/"+ref+"/"+name
	return object{
		"type": kind, "size": size, "name": path.Base(name), "path": name, "sha": sha, "url": self, "git_url": blob,
		"html_url": html, "download_url": c.sim.url + "/" + c.repo.fullName() + "/raw/" + ref + "/" + name,
		"_links": object{"self": self, "git": blob, "html": html},
	}
}
