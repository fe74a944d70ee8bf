package recovery_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/githubsim"
	"touchstone/relay/recovery"
)

// only returns the report's one hook.
func only(t *testing.T, report recovery.Report) recovery.HookReport {
	t.Helper()
	if len(report.Hooks) != 1 {
		t.Fatalf("the report has %d hooks: %+v", len(report.Hooks), report)
	}
	return report.Hooks[0]
}

func TestMissedDeliveriesComeAgain(t *testing.T) {
	t.Parallel()
	for target, contentType := range map[string]string{"acme/app": "form", "acme": "json", "app:7": "json"} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, target, contentType)
			w.comment(3)
			r := startRelay(t, w, secret, w.config(target))
			first := only(t, r.recover())
			if first.Problem != "" || first.Left > 0 || first.Missing > 0 {
				t.Errorf("behind the pass at the start came %+v", first)
			}
			w.checkLog(r.events())
			const missed = 110 // more than a page of GitHub's list
			w.relay.Store(nil)
			w.comment(missed)
			w.relay.Store(&r.address)
			second := only(t, r.recover())
			if second.Missing != missed || second.Redelivered != missed || second.Fetched != 0 || second.Left != 0 || second.Problem != "" {
				t.Errorf("for comments that were missed came %+v", second)
			}
			events := r.events()
			w.checkLog(events)
			for _, e := range events {
				if e.Recovered() {
					t.Errorf("%s was fetched, and not sent again", e.Delivery)
				}
			}
		})
	}
}

// Deliveries that cannot be redelivered are fetched, once, and marked.
func TestDeliveriesThatCannotBeRedeliveredAreFetchedOnce(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		secret  string
		status  int
		problem string
	}{
		"redelivery impossible": {secret, http.StatusUnprocessableEntity, ""},
		"redelivery forbidden":  {secret, http.StatusForbidden, "the access token needs the permission Webhooks"},
		"another secret":        {"another", 0, "redeliveries do not arrive"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "acme/app", "form")
			config := w.config("acme/app")
			config.Arrival = 300 * time.Millisecond
			r := startRelay(t, w, test.secret, config)
			r.recover()
			if test.status != 0 {
				w.answerTo("/attempts", test.status, `{"message":"no"}`)
			}
			w.relay.Store(nil)
			w.comment(60)
			w.relay.Store(&r.address)
			report := only(t, r.recover())
			if report.Fetched != 60 || report.Redelivered != 0 || report.Left != 0 {
				t.Errorf("of 60 comments came %+v", report)
			}
			if !strings.Contains(report.Problem, test.problem) || test.problem == "" && report.Problem != "" {
				t.Errorf("the problem is told as %q", report.Problem)
			}
			events := r.events()
			w.checkLog(events)
			for _, e := range events {
				if e.Type != "issue_comment" {
					continue
				}
				if !e.Recovered() {
					t.Errorf("%s is not marked: %v", e.Delivery, e.Headers)
				}
				if e.Repo != "acme/app" || e.Number != w.pull || e.Sender != "admin" || !json.Valid(e.Payload) {
					t.Errorf("a comment is described as %+v", e)
				}
			}
			if again := only(t, r.recover()); again.Missing != 0 || again.Fetched != 0 {
				t.Errorf("the next pass found %+v", again)
			}
		})
	}
}

// Deliveries that can neither be redelivered nor fetched are reported, and the next pass tries them again.
func TestFailedDeliveriesAreTriedInTheNextPass(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "acme/app", "json")
	config := w.config("acme/app")
	config.Arrival = 100 * time.Millisecond
	r := startRelay(t, w, secret, config)
	r.recover()
	w.relay.Store(nil)
	w.comment(2)
	r.setNote(w, time.Now().Add(-time.Hour))
	answer := func(rw http.ResponseWriter, request *http.Request) bool {
		if !strings.Contains(request.URL.Path, "/deliveries/") || request.Method != http.MethodGet {
			return false
		}
		_, err := rw.Write([]byte(`{"id":1,"guid":"x"}`))
		return err == nil
	}
	w.answer.Store(&answer)
	report := only(t, r.recover())
	if report.Missing != 2 || report.Left != 2 || !strings.Contains(report.Problem, "is not a webhook") {
		t.Errorf("without any content came %+v", report)
	}
	if note := r.note(w); note.After(time.Now()) || time.Since(note) > time.Minute {
		t.Errorf("the note says %s, and the deliveries happened just now", note)
	}
	w.answer.Store(nil)
	w.relay.Store(&r.address)
	if report := only(t, r.recover()); report.Redelivered+report.Fetched != 2 || report.Left != 0 {
		t.Errorf("with content came %+v", report)
	}
	w.checkLog(r.events())
}

// A pass that ends early reports as still missing whatever it has not brought in.
func TestAPassThatFailsReportsWhatIsLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "acme/app", "json")
	r := startRelay(t, w, secret, w.config("acme/app"))
	r.recover()
	w.relay.Store(nil)
	w.comment(2)
	answer := func(_ http.ResponseWriter, request *http.Request) bool {
		if request.Method == http.MethodPost {
			panic(http.ErrAbortHandler) // the connection breaks
		}
		return false
	}
	w.answer.Store(&answer)
	if report := only(t, r.recover()); report.Problem == "" || report.Missing != 2 || report.Redelivered != 0 || report.Left != 2 {
		t.Errorf("without a connection came %+v", report)
	}
}

// A delivery that GitHub is still waiting for is neither missing yet nor forgotten.
func TestDeliveryInProgressIsNotMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "acme/app", "json")
	r := startRelay(t, w, secret, w.config("acme/app"))
	r.recover()
	w.SetFaults(githubsim.Faults{DeliveryDelayMS: 3_600_000})
	text := "late"
	_, _, err := w.github.Issues.CreateComment(t.Context(), "acme", "app", w.pull, &github.IssueComment{Body: &text})
	if err != nil {
		t.Fatal(err)
	}
	report := only(t, r.recover())
	if report.Compared != 2 || report.Missing != 0 || report.Left != 0 {
		t.Errorf("for a delivery on its way came %+v", report)
	}
	var newest []*github.HookDelivery
	w.ask(http.MethodGet, w.path+"/deliveries?per_page=1", nil, &newest)
	if note := r.note(w); len(newest) != 1 || note.After(newest[0].GetDeliveredAt().Time) {
		t.Errorf("the note says %s and the deliveries are %v", note, newest)
	}
}

// GitHub forgets deliveries after three days without saying so; the report says so.
func TestDeliveriesThatGitHubForgotAreReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "acme/app", "json")
	r := startRelay(t, w, secret, w.config("acme/app"))
	r.recover()
	last := time.Now().Add(-4 * 24 * time.Hour).UTC().Truncate(time.Second)
	r.setNote(w, last)
	report := only(t, r.recover())
	if !report.OutOfReach.Equal(last) || time.Since(report.Since) > 73*time.Hour {
		t.Errorf("after four days came %+v", report)
	}
	if report := only(t, r.recover()); !report.OutOfReach.IsZero() {
		t.Errorf("and it is told again: %+v", report)
	}
}

// GitHub's clock decides what is out of reach: by the clock of a relay that is years ahead, everything would
// be.
func TestClockFarFromGitHubs(t *testing.T) {
	t.Parallel()
	for name, apart := range map[string]time.Duration{"ahead": -9000 * time.Hour, "behind": 9000 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "acme/app", "json")
			r := startRelay(t, w, secret, w.config("acme/app"))
			r.recover()
			w.Advance(apart)
			r.setNote(w, w.Now())
			w.relay.Store(nil)
			w.comment(3)
			w.relay.Store(&r.address)
			if report := only(t, r.recover()); report.Redelivered != 3 || !report.OutOfReach.IsZero() {
				t.Errorf("for comments that were missed came %+v", report)
			}
			w.checkLog(r.events())
		})
	}
}

func TestRateLimits(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"403": http.StatusForbidden, "429": http.StatusTooManyRequests} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "acme/app", "json")
			w.comment(2)
			var left atomic.Int64
			left.Store(2)
			w.Intercept(func(login string, _ *http.Request) githubsim.Fault {
				if login != "admin" || left.Add(-1) < 0 {
					return githubsim.Fault{}
				}
				return githubsim.Fault{Status: status, RetryAfter: time.Second}
			})
			r := startRelay(t, w, secret, w.config("acme/app"))
			r.recover()
			if left.Load() > 0 {
				t.Fatalf("%d refusals were never met", left.Load())
			}
			w.checkLog(r.events())
		})
	}
}

func TestProblemsAreSentences(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*world, *recovery.Config)
		want   string
	}{
		"permission missing": {
			func(_ *world, c *recovery.Config) { c.GitHub.Token = "token-of-octocat" },
			"the access token needs the permission Webhooks",
		},
		"token expired": {
			func(_ *world, c *recovery.Config) { c.GitHub.Token = "expired" },
			"GitHub rejected the access token",
		},
		"another App's key": {
			func(w *world, c *recovery.Config) {
				c.Targets = w.config("app:8").Targets
			},
			"names the App's own private key",
		},
		"another source": {
			func(_ *world, c *recovery.Config) { c.Sources = []string{"other"} },
			"has no webhook for this relay, whose address would end in /webhooks/other",
		},
		"another relay": {
			func(_ *world, c *recovery.Config) { c.PublicURL = "http://relay.tes" },
			"has no webhook for this relay",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "acme/app", "json")
			config := w.config("acme/app")
			test.change(w, &config)
			r := startRelay(t, w, secret, config)
			if report := only(t, r.recover()); !strings.Contains(report.Problem, test.want) {
				t.Errorf("the problem is told as %q", report.Problem)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "acme/app", "json")
	for want, change := range map[string]func(*recovery.Config){
		"GITHUB_TOKEN is not set":        func(c *recovery.Config) { c.GitHub.Token = "" },
		"RELAY_GITHUB_APP_KEY_FILE":      func(c *recovery.Config) { c.GitHub.AppKey = nil; c.Targets = w.config("app:7").Targets },
		"only one GitHub App":            func(c *recovery.Config) { c.Targets = w.config("app:7", "app:8").Targets },
		"is not the address of a GitHub": func(c *recovery.Config) { c.GitHub.API = "github" },
	} {
		config := w.config("acme/app")
		change(&config)
		if _, err := recovery.New(config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A pass looks only at deliveries since the last pass, and at a little time before it.
func TestNoteSavesWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "acme/app", "json")
	r := startRelay(t, w, secret, w.config("acme/app"))
	r.recover()
	if since := time.Since(only(t, r.recover()).Since); since < 9*time.Minute || since > 12*time.Minute {
		t.Errorf("the second pass looked %s back", since)
	}
}

// An administrator makes GitHub send one delivery again. If GitHub does not list it, or the relay does not
// look after its hook, the error says so.
func TestADeliveryIsSentAgain(t *testing.T) {
	for _, target := range []string{"acme/app", "acme", "app:7"} {
		t.Run(target, func(t *testing.T) {
			w := newWorld(t, target, "json")
			r := startRelay(t, w, secret, w.config(target))
			w.comment(1)
			events := r.events()
			last := events[len(events)-1]
			again, err := recovery.New(w.config(target))
			if err != nil {
				t.Fatal(err)
			}
			before := w.count("POST .*/attempts$")
			if err := again.Again(t.Context(), last.Source, last.Delivery); err != nil {
				t.Fatal(err)
			}
			w.Settle()
			if n := w.count("POST .*/attempts$") - before; n != 1 {
				t.Errorf("GitHub was asked %d times", n)
			}
			if now := r.events(); len(now) != len(events) {
				t.Errorf("%d events became %d: the delivery is stored already", len(events), len(now))
			}
			for _, unknown := range [][2]string{{last.Source, "none"}, {"elsewhere", last.Delivery}} {
				if err := again.Again(t.Context(), unknown[0], unknown[1]); !errors.Is(err, recovery.ErrNotListed) {
					t.Errorf("%v: %v", unknown, err)
				}
			}
		})
	}
}

// The delivery is looked for from the newest on, and no further than it has to be: the whole list of a busy organization
// has a thousand pages, longer than a browser or a proxy waits.
func TestAgainReadsTheListOnlyUpToTheDelivery(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "acme/app", "json")
	pages := func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			rw.WriteHeader(http.StatusAccepted)
			return true
		}
		if !strings.HasSuffix(r.URL.Path, "/deliveries") {
			return false
		}
		page, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
		if page < 5 {
			rw.Header().Set("Link", fmt.Sprintf(`<%s%s?cursor=%d>; rel="next"`, w.URL, r.URL.Path, page+1))
		}
		fmt.Fprintf(rw, `[{"id":%d,"guid":"delivery-%d","delivered_at":%q,"status_code":202}]`, 100-page, page,
			w.Now().Add(-time.Duration(page)*time.Minute).Format(time.RFC3339))
		return true
	}
	w.answer.Store(&pages)
	again, err := recovery.New(w.config("acme/app"))
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Again(t.Context(), "github", "delivery-1"); err != nil {
		t.Fatal(err)
	}
	if read, asked := w.count("GET .*/deliveries$"), w.count("POST .*/deliveries/99/attempts$"); read != 2 || asked != 1 {
		t.Errorf("read %d pages and asked %d times; the delivery is on the second page", read, asked)
	}
}
