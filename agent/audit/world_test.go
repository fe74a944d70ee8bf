package audit_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"touchstone/agent/audit"
	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/forge"
	"touchstone/agent/worker"
	"touchstone/verdict"
)

// world is a GitHub with one open pull request.
type world struct {
	*loopback.GitHub
	t   *testing.T
	ref forge.Ref
}

func start(t *testing.T) *world {
	t.Helper()
	w := &world{GitHub: loopback.New(t, map[string]string{"code.txt": "base\n"}), t: t}
	w.Call(loopback.Root, http.MethodPost, "statuses/main", map[string]string{"context": "build", "state": "success"}, nil)
	w.Commit("topic", "Change code\n\nCloses nothing.", map[string]string{"code.txt": "unsafe()\n"})
	w.ref = w.Open("topic")
	return w
}

// review posts a review of the head with this record, completed with what is true of the pull request.
func (w *world) review(login string, r verdict.Record) forge.Posted {
	w.t.Helper()
	pr := w.Read(login, w.ref)
	if r.Head == "" {
		r.Head = pr.Head.SHA
	}
	r.Base, r.BaseBranch, r.Guidelines, r.Engine = pr.Base.SHA, pr.Base.Name, "1a2b3c", "claude"
	seal, err := r.Seal(verdict.Signer{})
	if err != nil {
		w.t.Fatal(err)
	}
	posted, err := forge.NewPoster(w.Client(login)).PostReview(w.t.Context(), w.ref,
		forge.Review{SHA: pr.Head.SHA, Event: string(r.Verdict), Body: "The review.\n\n" + seal})
	if err != nil {
		w.t.Fatal(err)
	}
	return posted
}

// says posts a person's review.
func (w *world) says(event string) {
	w.t.Helper()
	w.Read(loopback.Person, w.ref) // settles
	w.Call(loopback.Person, http.MethodPost, fmt.Sprintf("pulls/%d/reviews", w.ref.Number),
		map[string]string{"event": event, "body": "I say so."}, nil)
}

// comment posts a comment and returns its id.
func (w *world) comment(login, body string) int64 {
	w.t.Helper()
	var made struct{ ID int64 }
	w.Call(login, http.MethodPost, fmt.Sprintf("issues/%d/comments", w.ref.Number), map[string]string{"body": body}, &made)
	return made.ID
}

// dismiss dismisses a review.
func (w *world) dismiss(review int64, why string) {
	w.t.Helper()
	w.Call(loopback.Root, http.MethodPut, fmt.Sprintf("pulls/%d/reviews/%d/dismissals", w.ref.Number, review),
		map[string]string{"message": why}, nil)
}

func (w *world) status(state string) {
	w.t.Helper()
	w.Call(loopback.Root, http.MethodPost, "statuses/"+w.Read(loopback.Root, w.ref).Head.SHA,
		map[string]string{"context": "build", "state": state}, nil)
}

// rewind takes the tip off main again, as a force push does.
func (w *world) rewind(tip string) {
	w.t.Helper()
	var commit struct{ Parents []struct{ SHA string } }
	w.Call(loopback.Root, http.MethodGet, "git/commits/"+tip, nil, &commit)
	w.Call(loopback.Root, http.MethodPatch, "git/refs/heads/main", map[string]any{"sha": commit.Parents[0].SHA, "force": true}, nil)
}

// force pushes the head back to main's tip and a commit of other files, by force.
func (w *world) force(message string) {
	w.t.Helper()
	sha := w.Commit("other-"+message, message, map[string]string{"code.txt": message + "\n"})
	w.Call(loopback.Person, http.MethodPatch, "git/refs/heads/topic", map[string]any{"sha": sha, "force": true}, nil)
}

func (w *world) merge() string {
	w.t.Helper()
	sha, err := forge.NewMerger(w.Client(loopback.Author)).SquashMerge(w.t.Context(), w.ref,
		forge.SquashRequest{SHA: w.Read(loopback.Author, w.ref).Head.SHA, Title: "Change code"})
	if err != nil {
		w.t.Fatal(err)
	}
	return sha
}

// settings are those of the agents.
func settings() config.Config {
	cfg := config.Default()
	cfg.Reviewers = []string{"Judge"}
	return cfg
}

// asks are those of an account that somebody asks for, reading as a client does.
func asks(read worker.Reader, cfg config.Config) audit.Settings {
	return audit.Settings{Reviewers: cfg.Reviewers, Rights: cfg.Rights, State: worker.Onlooker{Read: read, Config: cfg}.State}
}

func (w *world) why() (audit.Chain, string) {
	w.t.Helper()
	w.Read(loopback.Root, w.ref) // settles
	client := w.Client(loopback.Person)
	chain, err := audit.Gather(w.t.Context(), client, w.ref, asks(client, settings()))
	if err != nil {
		w.t.Fatal(err)
	}
	var text strings.Builder
	if err := chain.Write(&text); err != nil {
		w.t.Fatal(err)
	}
	return chain, text.String()
}

var finding = verdict.Entry{
	ID: "0a1b2c3d", Status: verdict.Open, Dimension: verdict.Security, Severity: verdict.Critical, Rule: "security/S1",
	Path: "code.txt", Line: 1, Claim: "This is unsafe.", First: 1, Last: 1,
}

func as(status verdict.Status) verdict.Entry {
	f := finding
	f.Status = status
	return f
}
