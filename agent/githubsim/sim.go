// Package githubsim is a GitHub that runs on loopback, for tests and the demo.
//
// It owns the state of its repositories: real bare git repositories on disk, and in memory everything that
// GitHub keeps outside git (pull requests, reviews, comments, labels, checks, webhooks and their deliveries).
// It speaks REST, the part of GraphQL that this product uses, and git over HTTP, all with the same tokens, and
// it sends signed webhooks. It computes its answers from the refs: mergeability by a real merge, checks by a
// real command.
//
// No production package may import it.
package githubsim

import (
	"cmp"
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"touchstone/agent/githubsim/bare"
	"touchstone/worktree/steps"
)

// Config configures a Sim. Dir, URL and at least one user are required.
type Config struct {
	// Dir contains the repositories, as OWNER/NAME.git; existing ones are served from the start. It is created
	// if it is missing.
	Dir string
	// URL is the public base of the simulator, such as http://127.0.0.1:8090.
	URL string
	// Users are the accounts that can sign in, each with its token.
	Users []User
	// CI, if set, decides the check of every new head of a pull request, in a clean checkout of the commit in
	// dir. It must return when ctx ends.
	CI func(ctx context.Context, repo, sha, dir string) CIResult
	// DeliveryTimeout is how long a webhook's answer may take; 0 means GitHub's ten seconds, which a machine
	// that is busy with tests can exceed.
	DeliveryTimeout time.Duration
	// Transport carries the webhooks; nil means http.DefaultTransport.
	Transport http.RoundTripper
}

// User is one identity. REST, GraphQL and git share it.
type User struct {
	Login string `json:"login"`
	// Token is the REST bearer token and the git password.
	Token string `json:"token"`
	Name  string `json:"name"`
	Email string `json:"email"`
	// Admin grants administration of every repository.
	Admin bool `json:"admin"`
	// App makes this the token of a GitHub App: a Bot that may write check runs.
	App bool `json:"app"`
	// Mannequin makes this the placeholder of a person whose contributions were imported.
	Mannequin bool `json:"mannequin"`
	// AppID and AppKey let the app sign JSON web tokens. Only with these does it see its own webhook and
	// deliveries.
	AppID  string         `json:"-"`
	AppKey *rsa.PublicKey `json:"-"`
}

// Sim is one simulated GitHub. Its methods are safe for concurrent use.
type Sim struct {
	clock

	cfg     Config
	url     string
	gitPath string
	client  *http.Client
	lanes   lanes
	ciSlots chan struct{}
	mux     *http.ServeMux

	mu        sync.Mutex
	accounts  []*account
	repos     []*repo
	nextID    int64
	faults    Faults
	intercept func(login string, r *http.Request) Fault
	orgs      map[string]*hookSet // by login in lower case
	moved     map[string]*repo    // by their former names, in lower case
	// registrations are the apps that are being registered, by their manifests' codes; grants are the grants of
	// installations' tokens, by token.
	registrations map[string]registration
	grants        map[string]*grant
}

// New opens the repositories below cfg.Dir. It starts nothing: see Serve and Run.
func New(cfg Config) (*Sim, error) {
	if cfg.Dir == "" || cfg.URL == "" || len(cfg.Users) == 0 {
		return nil, errors.New("githubsim needs a directory, a URL and at least one user")
	}
	gitPath, err := exec.LookPath("git")
	if err != nil {
		return nil, fmt.Errorf("githubsim serves real repositories and needs git: %w", err)
	}
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		return nil, err
	}
	s := &Sim{
		cfg:     cfg,
		url:     strings.TrimSuffix(cfg.URL, "/"),
		gitPath: gitPath,
		client:  &http.Client{Transport: cfg.Transport, Timeout: cmp.Or(cfg.DeliveryTimeout, deliveryTimeout), CheckRedirect: noRedirect},
		ciSlots: make(chan struct{}, 2),
		nextID:  1000,
		orgs:    map[string]*hookSet{},
		moved:   map[string]*repo{},

		registrations: map[string]registration{},
		grants:        map[string]*grant{},
	}
	for _, u := range cfg.Users {
		if u.Login == "" || u.Token == "" {
			return nil, errors.New("every githubsim user needs a login and a token")
		}
		s.addAccount(u)
	}
	s.mux = s.routes()
	found, err := filepath.Glob(filepath.Join(cfg.Dir, "*", "*.git"))
	if err != nil {
		return nil, err
	}
	for _, dir := range found {
		owner, name := filepath.Base(filepath.Dir(dir)), strings.TrimSuffix(filepath.Base(dir), ".git")
		if err := s.CreateRepo(context.Background(), RepoOptions{Owner: owner, Name: name, Dir: dir}); err != nil {
			return nil, fmt.Errorf("open %s: %w", dir, err)
		}
	}
	return s, nil
}

// Run delivers webhooks, computes mergeability and runs CI until ctx ends, and returns once all of that has
// stopped. Work from before the call waits for it.
func (s *Sim) Run(ctx context.Context) error {
	s.lanes.run(ctx)
	return nil
}

// Serve answers requests on ln and does the work of Run until ctx ends.
func (s *Sim) Serve(ctx context.Context, ln net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() {
		failed <- server.Serve(ln)
		cancel()
	}()
	err := s.Run(ctx)
	closeErr := server.Close()
	if serveErr := <-failed; !errors.Is(serveErr, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", serveErr)
	}
	return errors.Join(err, closeErr)
}

// Settle waits until no webhook, mergeability or CI work is left, or until ctx ends. It does not wait for
// deliveries that are held back to be shuffled.
func (s *Sim) Settle(ctx context.Context) error { return s.lanes.settle(ctx) }

// Protection is what a protected branch requires of a pull request.
type Protection struct {
	RequiredChecks []string `json:"required_checks"`
	// Strict requires the head to contain the tip of the base.
	Strict    bool `json:"strict"`
	Approvals int  `json:"approvals"`
	// MergeQueue allows merges only through a queue.
	MergeQueue bool `json:"merge_queue"`
	// CodeOwners are the logins of which one must approve, as if a CODEOWNERS file named them for all files.
	CodeOwners []string `json:"code_owners"`
	// PeopleOnly ignores approvals of Apps, as GitHub does in some repositories and not in others.
	PeopleOnly bool `json:"people_only"`
	// Ruleset reports that the requirements come from a ruleset instead of branch protection.
	Ruleset bool `json:"ruleset"`
}

// RepoOptions describe a repository to serve.
type RepoOptions struct {
	Owner, Name string
	// Dir is an existing bare repository, served in place. If it is empty, a new repository is created below
	// Config.Dir, with Files as the first commit on main.
	Dir   string
	Files map[string]string
	// ForkOf is the OWNER/NAME of the parent repository; the fork starts as a copy of it.
	ForkOf  string
	Private bool
	// Permissions maps logins to admin, maintain, write, triage or read. Nil gives every login write access;
	// the owner and administrators always have admin.
	Permissions map[string]string
	// Protected maps branch names to their protection.
	Protected map[string]Protection
	// NoSquash forbids squash merges.
	NoSquash bool
	// DeleteMerged makes GitHub delete the branch of each merged pull request.
	DeleteMerged bool
}

// CreateRepo creates or adopts a repository. It fails if the name is taken.
func (s *Sim) CreateRepo(ctx context.Context, opts RepoOptions) error {
	return s.do(func() {
		if s.findRepo(opts.Owner+"/"+opts.Name) != nil {
			steps.Fail("repository %s/%s exists already", opts.Owner, opts.Name)
		}
		r := &repo{
			RepoOptions: opts, id: s.id(), created: s.Now(),
			pulls: map[int]*pull{}, issues: map[int]*issue{}, labels: map[string]*label{},
		}
		r.Permissions = maps.Clone(opts.Permissions)
		r.hooks = &hookSet{kind: "Repository", target: "repository", id: r.id, path: "/repos/" + r.fullName() + "/hooks"}
		if opts.ForkOf != "" {
			r.parent = s.repo(opts.ForkOf)
		}
		dir := cmp.Or(opts.Dir, filepath.Join(s.cfg.Dir, opts.Owner, opts.Name+".git"))
		r.git = bare.Open(s.gitPath, dir, s.Now)
		if opts.Dir == "" {
			steps.Must(r.make(ctx, opts.Files))
		}
		steps.Must(r.load())
		s.tested(r)
		s.repos = append(s.repos, r)
		delete(s.moved, strings.ToLower(r.fullName()))
	})
}

// Commit commits files to a branch and triggers what a push by login would trigger. An empty text deletes a
// file; a new branch starts at main. It returns the new commit.
func (s *Sim) Commit(ctx context.Context, login, repository, branch, message string, files map[string]string) (sha string, err error) {
	err = s.do(func() {
		r, by := s.repo(repository), s.account(login)
		parent := cmp.Or(r.refs["refs/heads/"+branch], r.refs["refs/heads/main"])
		sha = steps.Got(r.git.Write(ctx, branch, parent, by.ident(), message, files))
		s.noticeRefs(ctx, r, by)
	})
	return sha, err
}

// PullState returns the state of a pull request, "open" or "closed", and the names of its labels; "" without the
// pull request.
func (s *Sim) PullState(repository string, number int) (state string, labels []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.findRepo(repository)
	if r == nil || r.pulls[number] == nil {
		return "", nil
	}
	for _, l := range r.pulls[number].labels {
		labels = append(labels, l.name)
	}
	return r.pulls[number].state(), labels
}

// do runs a row of steps under the lock.
func (s *Sim) do(row func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return steps.Try(row)
}

func (s *Sim) id() int64 {
	s.nextID++
	return s.nextID
}

// Transfer gives a repository another owner and name, as a transfer or a rename does. Its number stays, and
// requests for the old name lead to it until another repository takes that name.
// https://docs.github.com/en/repositories/creating-and-managing-repositories/transferring-a-repository
func (s *Sim) Transfer(repository, owner, name string) error {
	return s.do(func() {
		r := s.repo(repository)
		if s.findRepo(owner+"/"+name) != nil {
			steps.Fail("%s/%s exists already", owner, name)
		}
		s.moved[strings.ToLower(repository)] = r
		r.Owner, r.Name = owner, name
	})
}

// find returns the first match; nil if there is none.
func find[T any](list []*T, match func(*T) bool) *T {
	i := slices.IndexFunc(list, match)
	if i < 0 {
		return nil
	}
	return list[i]
}

// must returns what was found, as a step that fails with err if nothing was.
func must[T any](found *T, err error) *T {
	if found == nil {
		steps.Must(err)
	}
	return found
}

// findRepo finds a repository by its OWNER/NAME.
func (s *Sim) findRepo(name string) *repo {
	return find(s.repos, func(r *repo) bool { return strings.EqualFold(r.fullName(), name) })
}

func (s *Sim) repo(name string) *repo {
	return must(s.findRepo(name), fmt.Errorf("no repository %s", name))
}

func (s *Sim) findAccount(login string) *account {
	return find(s.accounts, func(a *account) bool { return strings.EqualFold(a.Login, login) })
}

func (s *Sim) account(login string) *account {
	return must(s.findAccount(login), fmt.Errorf("no user %s", login))
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Repos returns the OWNER/NAME of every repository, in the order of creation.
func (s *Sim) Repos() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, r := range s.repos {
		names = append(names, r.fullName())
	}
	return names
}
