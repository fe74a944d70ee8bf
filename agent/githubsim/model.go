package githubsim

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"touchstone/agent/githubsim/bare"
)

// account is a user with GitHub's own data about it.
type account struct {
	User
	id    int64
	used  int       // requests in the current rate-limit window
	reset time.Time // when that window ends
	hooks *hookSet  // an app's; nil for people
	// deleted reports that the account was deleted.
	deleted bool
	// registered is the registration of an app; nil for people, and for apps that exist from the start.
	registered    *registration
	installations []*installation
}

// ident returns the account's name and address in commits.
func (a *account) ident() string {
	email := cmp.Or(a.Email, fmt.Sprintf("%d+%s@users.noreply.example.com", a.id, a.Login))
	return cmp.Or(a.Name, a.Login) + " <" + email + ">"
}

// repo is one repository: git on disk, and the data that GitHub keeps outside git.
type repo struct {
	RepoOptions
	id            int64
	defaultBranch string
	git           bare.Repo
	parent        *repo
	created       time.Time

	refs       map[string]string // as last noticed, see noticeRefs
	lastNumber int
	pulls      map[int]*pull
	issues     map[int]*issue
	labels     map[string]*label
	hooks      *hookSet
	suites     []*checkSuite
	statuses   []*status
	activities []activity
}

func (r *repo) fullName() string { return r.Owner + "/" + r.Name }

// make creates the repository on disk, as a copy of its parent if it has one, and commits the files, if any.
func (r *repo) make(ctx context.Context, files map[string]string) error {
	from := ""
	if r.parent != nil {
		from = r.parent.git.Dir
	}
	if err := r.git.Init(ctx, from); err != nil || len(files) == 0 {
		return err
	}
	_, err := r.git.Write(ctx, "main", "", r.Owner+" <"+r.Owner+"@example.com>", "Initial commit", files)
	return err
}

// load reads the refs, the default branch and the highest number in use.
func (r *repo) load() (err error) {
	if r.refs, err = r.git.Refs(); err != nil {
		return err
	}
	head, err := os.ReadFile(filepath.Join(r.git.Dir, "HEAD"))
	if err != nil {
		return err
	}
	r.defaultBranch = strings.TrimPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
	for ref := range r.refs {
		rest, ok := strings.CutPrefix(ref, "refs/pull/")
		number, err := strconv.Atoi(strings.TrimSuffix(rest, "/head"))
		if ok && err == nil {
			r.lastNumber = max(r.lastNumber, number)
		}
	}
	return nil
}

// roles are the roles of an account in a repository, in rising order.
var roles = []string{"none", "read", "triage", "write", "maintain", "admin"}

// permission returns an account's role, one of roles.
func (r *repo) permission(a *account) string {
	switch {
	case a.deleted || a.Mannequin:
		return "read"
	case a.registered != nil:
		return r.permissionOfApp(a)
	case a.Admin || strings.EqualFold(a.Login, r.Owner):
		return "admin"
	case r.Permissions == nil:
		return "write"
	case r.Permissions[a.Login] != "":
		return r.Permissions[a.Login]
	case r.Private:
		return "none"
	}
	return "read"
}

// permissionOfApp returns the role of an app's installation.
func (r *repo) permissionOfApp(a *account) string {
	for _, at := range a.installations {
		if at.covers(r) && at.suspended.IsZero() {
			return at.role()
		}
	}
	if r.Private {
		return "none"
	}
	return "read"
}

// atLeast reports whether an account has this role, or one that includes it.
func (r *repo) atLeast(a *account, role string) bool {
	return slices.Index(roles, r.permission(a)) >= slices.Index(roles, role)
}

func (r *repo) canWrite(a *account) bool { return r.atLeast(a, "write") }

// rights renders a permission in REST's format.
func (r *repo) rights(a *account) object {
	return object{
		"admin": r.atLeast(a, "admin"), "maintain": r.atLeast(a, "maintain"), "push": r.canWrite(a),
		"triage": r.atLeast(a, "triage"), "pull": r.atLeast(a, "read"),
	}
}

// sortedPulls returns the pull requests, the oldest first.
func (r *repo) sortedPulls() []*pull {
	out := make([]*pull, 0, len(r.pulls))
	for n := 1; n <= r.lastNumber; n++ {
		if p := r.pulls[n]; p != nil {
			out = append(out, p)
		}
	}
	return out
}

// pull is one pull request, which is also an issue.
type pull struct {
	id                    int64
	number                int
	repo, headRepo        *repo
	title, body           string
	author                *account
	draft, closed, merged bool
	maintainerCanModify   bool
	baseRef, headRef      string // branch names
	baseSHA, headSHA      string
	created, updated      time.Time
	closedAt, mergedAt    time.Time
	mergedBy              *account
	mergeSHA              string // of the merge, once merged
	labels                []*label
	incidents             []incident
	queued                *queueEntry // nil outside the merge queue
	auto                  *autoMerge  // nil unless an account requested it
	requested             []*account
	reviews               []*review
	threads               []*thread
	comments              []*comment
	mergeability          mergeability
}

func (p *pull) base() string { return p.repo.refs["refs/heads/"+p.baseRef] }

func (p *pull) crossRepo() bool { return p.headRepo != p.repo }

func (p *pull) state() string {
	if p.closed {
		return "closed"
	}
	return "open"
}

// opinions returns each reviewer's effective review: the last approval or request for changes that was not
// dismissed.
func (p *pull) opinions() map[*account]*review {
	out := map[*account]*review{}
	for _, rv := range p.reviews {
		switch rv.state {
		case "APPROVED", "CHANGES_REQUESTED":
			out[rv.author] = rv
		case "DISMISSED":
			if out[rv.author] == rv {
				delete(out, rv.author)
			}
		}
	}
	return out
}

// mergeability is the result of a trial merge of one head into one base.
type mergeability struct {
	base, head string
	tree       string // "" if there is a conflict
	commit     string // the test merge, refs/pull/N/merge
}

// review is one review; its states are GitHub's: PENDING, COMMENTED, APPROVED, CHANGES_REQUESTED, DISMISSED.
type review struct {
	text
	id            int64
	pull          *pull
	state, commit string
	submitted     time.Time // zero while pending
	comments      []*reviewComment
}

type reviewComment struct {
	id              int64
	author          *account
	path, body      string
	side, startSide string
	line, startLine int
	position        int
	hunk, commit    string
	created         time.Time
	review          *review
	replyTo         *reviewComment
	reactions       map[string][]*account // by GraphQL's name of the reaction, such as THUMBS_UP
}

// thread is an inline comment and the replies to it.
type thread struct {
	id         int64
	resolvedBy *account // nil while open
	comments   []*reviewComment
}

// issue is an issue that is not a pull request.
type issue struct {
	id          int64
	repo        *repo
	number      int
	title, body string
	author      *account
	labels      []*label
	created     time.Time
}

// comment is a comment on a pull request as a whole.
type comment struct {
	text
	id   int64
	pull *pull
}

// text is what an account wrote, and others may have edited.
type text struct {
	author    *account
	body      string
	created   time.Time
	revisions []revision // none before the first edit
}

// revision is one version of an edited text, including the first one.
type revision struct {
	by   *account
	at   time.Time
	text string
}

func (t *text) edit(by *account, at time.Time, body string) {
	if len(t.revisions) == 0 {
		t.revisions = []revision{{t.author, t.created, t.body}}
	}
	t.body, t.revisions = body, append(t.revisions, revision{by, at, body})
}

// lastEdit returns the present version of an edited text; the zero value if nobody has edited it.
func (t *text) lastEdit() (last revision) {
	if n := len(t.revisions); n > 0 {
		last = t.revisions[n-1]
	}
	return last
}

type label struct {
	id          int64
	repo        *repo
	name, color string
}

// checkSuite groups the check runs of one app for one commit.
type checkSuite struct {
	id               int64
	repo             *repo
	sha, branch      string
	commit           bare.Commit
	app              *account // nil for the simulator's own CI
	runs             []*checkRun
	created, updated time.Time
}

// status and conclusion of a suite are derived from its runs.
func (cs *checkSuite) status() string {
	out := "queued"
	for _, run := range cs.runs {
		if run.status != "completed" {
			return run.status
		}
		out = "completed"
	}
	return out
}

func (cs *checkSuite) conclusion() string {
	if cs.status() != "completed" {
		return ""
	}
	for _, run := range cs.runs {
		if !passing(run.conclusion) {
			return run.conclusion
		}
	}
	return "success"
}

// passing reports whether a required check with this conclusion allows a merge.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches
func passing(conclusion string) bool {
	return conclusion == "success" || conclusion == "neutral" || conclusion == "skipped"
}

type checkRun struct {
	id                   int64
	suite                *checkSuite
	name                 string
	status, conclusion   string
	title, summary, text string
	annotations          []annotation
	log                  string // for a job of the simulator's own CI
	detailsURL           string
	externalID           string
	started, completed   time.Time
}

// annotation is a check run's note on lines of a file, in the format in which apps send it and GitHub returns
// it.
type annotation struct {
	Path      string `json:"path"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
	Level     string `json:"annotation_level"`
	Message   string `json:"message"`
	Title     string `json:"title"`
}

type status struct {
	id                     int64
	repo                   *repo
	sha                    string
	context, state         string
	description, targetURL string
	creator                *account
	created                time.Time
}
