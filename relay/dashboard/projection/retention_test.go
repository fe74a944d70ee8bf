package projection_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"touchstone/relay/dashboard/projection"
	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/internal/firestore"
	"touchstone/relay/internal/sqlite"
	"touchstone/relay/storetest/emulator"
)

// session runs a relay once: it appends events to a store's log, and looks at the log's projection in a file.
func session(t *testing.T, store hub.Store, path string, events []event.Event, look func(*projection.Projection, *log)) {
	t.Helper()
	h, err := hub.New(t.Context(), store, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	l := &log{t: t, hub: h, n: int(h.Bounds().Head)}
	l.append(events...)
	p, err := projection.Open(t.Context(),
		projection.Config{Path: path, Log: h, Store: store, Reviewers: []string{"judge"}, GitHub: []string{"github"}})
	if err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(running) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}()
	p.Await(t.Context())
	look(p, l)
}

// later is another pull request, which is opened days after it all began.
func later(days, number int) event.Event {
	at := began.AddDate(0, 0, days)
	return happened(days*24*60, "pull_request", "opened", number,
		object{"pull_request": pull(days*24*60, number, "ccc", object{"created_at": at})})
}

func emptied(t *testing.T, store hub.Store, before time.Time) {
	t.Helper()
	for {
		n, err := store.Trim(t.Context(), before)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
	}
	if b, err := store.Bounds(t.Context()); err != nil || b.Floor == 0 {
		t.Fatalf("nothing was removed: %+v, %v", b, err)
	}
}

// What happened on each day outlives both the events of the day and the projection's file, with either store.
func TestFiguresOfADayOutliveTheLogAndTheFile(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) (hub.Store, time.Time){
		"SQLite": func(t *testing.T) (hub.Store, time.Time) {
			store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "relay.db"))
			if err != nil {
				t.Fatal(err)
			}
			return store, began.AddDate(0, 0, 7)
		},
		"Firestore": func(t *testing.T) (hub.Store, time.Time) {
			e, project := emulator.ForTest(t)
			t.Setenv("FIRESTORE_EMULATOR_HOST", e.Address)
			store, err := firestore.Open(t.Context(), project, "")
			if err != nil {
				t.Fatal(err)
			}
			return store, time.Now().Add(time.Hour) // of the documents, which are new
		},
	} {
		t.Run(name, func(t *testing.T) {
			store, old := open(t)
			defer func() {
				if err := store.Close(); err != nil {
					t.Error(err)
				}
			}()
			dir := t.TempDir()
			var want []projection.Trend
			var fired []projection.RuleTrend
			var rules []projection.Rule
			rule := func(p *projection.Projection, days int) ([]projection.RuleTrend, []projection.Rule) {
				from, now := began.AddDate(0, 0, -30), began.AddDate(0, 0, days)
				trends, err := p.RuleTrends(t.Context(), projection.RuleQuery{Rule: "security/S2", Model: "m", Bucket: projection.Day}, from, now)
				if err != nil {
					t.Fatal(err)
				}
				rules, err := p.Rules(t.Context(), projection.RuleQuery{}, from)
				if err != nil {
					t.Fatal(err)
				}
				return trends, rules
			}
			trends := func(p *projection.Projection, days int) []projection.Trend {
				now := began.AddDate(0, 0, days)
				if err := p.Tend(t.Context(), now); err != nil {
					t.Fatal(err)
				}
				trends, err := p.Trends(t.Context(), event.Filter{}, "", projection.Day, began.AddDate(0, 0, -30), now)
				if err != nil {
					t.Fatal(err)
				}
				return trends
			}
			session(t, store, filepath.Join(dir, "first.page"), story(), func(p *projection.Projection, _ *log) {
				want = trends(p, 0)
				fired, rules = rule(p, 0)
			})
			if len(want) != 1 || want[0].Merged != 1 || want[0].Rounds != 2 || want[0].Merge == nil {
				t.Fatalf("the day itself: %+v", want)
			}
			if len(fired) != 1 || fired[0].Fired != 1 || fired[0].Held != 1 || len(fired[0].Pulls) != 1 || len(rules) != 1 ||
				rules[0].Pulls != 1 {
				t.Fatalf("what fired on the day itself: %+v, %+v", fired, rules)
			}
			emptied(t, store, old)
			session(t, store, filepath.Join(dir, "second.page"), []event.Event{later(10, 2)}, func(p *projection.Projection, _ *log) {
				got := trends(p, 10)
				if len(got) != 11 || !reflect.DeepEqual(got[0], want[0]) || got[10].Opened != 1 {
					t.Errorf("after the log and the file are gone:\n got %+v\nwant %+v", got, want)
				}
				if since, err := p.TrendsSince(t.Context()); err != nil || !since.Equal(began.Truncate(24*time.Hour)) {
					t.Errorf("trends are known since %s, %v", since, err)
				}
				if !p.Since().Equal(began.AddDate(0, 0, 10)) {
					t.Errorf("the log is known since %s", p.Since())
				}
				fired[0].Pulls = []projection.RulePull{} // they are gone with the log
				if again, all := rule(p, 10); len(again) != 11 || !reflect.DeepEqual(again[0], fired[0]) || !reflect.DeepEqual(all, rules) {
					t.Errorf("what fired, after the log and the file are gone:\n got %+v, %+v\nwant %+v, %+v", again, all, fired, rules)
				}
				elsewhere := projection.RuleQuery{Scope: event.Filter{Repos: []string{"other/*"}}}
				if others, err := p.Rules(t.Context(), elsewhere, began); err != nil || len(others) > 0 {
					t.Errorf("what fired within another scope: %+v, %v", others, err)
				}
				secret, err := p.Trends(t.Context(), event.Filter{Repos: []string{"other/*"}}, "", projection.Day, began, began)
				if err != nil || len(secret) != 1 || secret[0].Merged != 0 {
					t.Errorf("within another scope: %+v, %v", secret, err)
				}
			})
		})
	}
}

// A relay that knows less about a day removes nothing from the day's note.
func TestNotesOfADayKeepTheBetterKnowledge(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "relay.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	dir := t.TempDir()
	now := began.AddDate(0, 0, 1)
	for i, events := range [][]event.Event{story(), {later(0, 2)}, nil} {
		session(t, store, filepath.Join(dir, fmt.Sprint(i)), events, func(p *projection.Projection, _ *log) {
			if err := p.Tend(t.Context(), now); err != nil {
				t.Fatal(err)
			}
			trends, err := p.Trends(t.Context(), event.Filter{}, "", projection.Day, began, now)
			if err != nil || len(trends) != 2 || trends[0].Merged != 1 || trends[0].Rounds != 2 {
				t.Errorf("run %d: %+v, %v", i, trends, err)
			}
		})
		if i == 0 {
			emptied(t, store, began.AddDate(0, 0, 7))
		}
	}
}

// The file has no events that the log does not have, and no details of pull requests that ended before the log
// begins; a late event of such a pull request changes nothing.
func TestRetentionBoundsTheFile(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "relay.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	path := filepath.Join(t.TempDir(), "page")
	stray := happened(5, "push", "", 0, object{"after": "fff", "commits": []object{}})
	open := opened(3, "ddd")
	var before projection.Summary
	session(t, store, path, append(story(), stray, open), func(p *projection.Projection, _ *log) {
		detail, known, err := p.Pull(t.Context(), event.Filter{}, "acme/app", 1)
		if err != nil || !known || detail.Trimmed || len(detail.Rounds) == 0 {
			t.Fatalf("%+v, %v", detail, err)
		}
		before = detail.Summary
	})
	emptied(t, store, began.AddDate(0, 0, 7))
	session(t, store, path, []event.Event{later(10, 2)}, func(p *projection.Projection, l *log) {
		if err := p.Tend(t.Context(), began.AddDate(0, 0, 10)); err != nil {
			t.Fatal(err)
		}
		late := happened(15000, "issue_comment", "created", 1, object{"issue": object{"number": 1, "pull_request": object{}},
			"comment": object{"body": "Thanks!"}})
		l.append(late)
		p.Await(t.Context())
		events, _, err := p.Events(t.Context(), projection.EventQuery{Limit: 500})
		if err != nil || len(events) != 2 {
			t.Errorf("%d events, %v", len(events), err)
		}
		detail, known, err := p.Pull(t.Context(), event.Filter{}, "acme/app", 1)
		if err != nil || !known || !detail.Trimmed || !reflect.DeepEqual(detail.Summary, before) {
			t.Errorf("what ended: %+v, %v\nwant %+v", detail, err, before)
		}
		detail, known, err = p.Pull(t.Context(), event.Filter{}, "acme/app", 3)
		if err != nil || !known || detail.Trimmed || detail.Title != "Add search" || detail.Head != "ddd" {
			t.Errorf("what is open: %+v, %v", detail, err)
		}
		if rules, err := p.Rules(t.Context(), projection.RuleQuery{}, began); err != nil || len(rules) != 1 {
			t.Errorf("rules %+v, %v", rules, err)
		}
		// The repository gets another name, under which somebody labels what ended.
		figures := func() string {
			trends, err := p.Trends(t.Context(), event.Filter{}, "", projection.Day, began, began)
			if err != nil || len(trends) != 1 {
				t.Fatalf("figures %+v, %v", trends, err)
			}
			return fmt.Sprintf("%d opened, %d merged", trends[0].Opened, trends[0].Merged)
		}
		counted := figures()
		l.append(in("acme/new", happened(15001, "pull_request", "labeled", 1, object{"pull_request": pull(15001, 1, "aaa",
			object{"state": "closed", "closed_at": began.Add(time.Hour), "merged_at": began.Add(time.Hour)})})))
		p.Await(t.Context())
		if got := figures(); got != counted {
			t.Errorf("the day has %s, before it had %s", got, counted)
		}
	})
	for table, want := range map[string]int{"commits": 0, "heads": 3} {
		if n := rowsOf(t, path, table); n != want {
			t.Errorf("%d %s, want %d", n, table, want)
		}
	}
	session(t, store, path, nil, func(p *projection.Projection, _ *log) {
		// The projection tends itself meanwhile, as of today, and may take the noted days into the file once more.
		left := -1
		for n := 0; n < 10 && left != 0; n++ {
			if err := p.Tend(t.Context(), began.AddDate(3, 0, 0)); err != nil {
				t.Fatal(err)
			}
			left = rowsOf(t, path, "moments") + rowsOf(t, path, "findings") + rowsOf(t, path, "days")
		}
		if left != 0 {
			t.Errorf("%d moments, findings and days are left after three years", left)
		}
		if _, known, err := p.Pull(t.Context(), event.Filter{}, "acme/app", 1); known || err != nil {
			t.Errorf("after three years it is known: %t, %v", known, err)
		}
		if _, known, err := p.Pull(t.Context(), event.Filter{}, "acme/app", 3); !known || err != nil {
			t.Errorf("what is open is known: %t, %v", known, err)
		}
	})
}

func rowsOf(t *testing.T, path, table string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(60000)") // what closes it may still hold it
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT COUNT(*) FROM " + table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Trends have no bucket before the log is known: none says zero.
func TestTrendsBeginWhereTheLogIsKnown(t *testing.T) {
	l := newLog(t)
	p := l.project(l.file(), "judge")
	now := began.AddDate(0, 0, 1)
	if trends, err := p.Trends(t.Context(), event.Filter{}, "", projection.Day, began, now); err != nil || len(trends) != 0 {
		t.Errorf("of an empty log: %+v, %v", trends, err)
	}
	l.append(story()...)
	p.Await(t.Context())
	for bucket, first := range map[projection.Bucket]time.Time{
		projection.Day: began.Truncate(24 * time.Hour), projection.Week: projection.Week.Start(began),
	} {
		trends, err := p.Trends(t.Context(), event.Filter{}, "", bucket, began.AddDate(0, 0, -60), now)
		if err != nil || len(trends) == 0 || !trends[0].Start.Equal(first) {
			t.Errorf("by %s: %+v, %v", bucket, trends, err)
		}
		rule, err := p.RuleTrends(t.Context(), projection.RuleQuery{Rule: "security/S2", Bucket: bucket}, began.AddDate(0, 0, -60), now)
		if err != nil || len(rule) == 0 || !rule[0].Start.Equal(first) {
			t.Errorf("a rule by %s: %+v, %v", bucket, rule, err)
		}
	}
}

// A batch of events is in the file a moment before the projection knows its new repositories. The notes outlive the
// file, so they must not get findings of a repository without a name then.
func TestNotesNameTheRepositoryOfABatchThatWasJustWritten(t *testing.T) {
	l, path := newLog(t), filepath.Join(t.TempDir(), "page")
	session(t, l.store, path, []event.Event{opened(1, "aaa")}, func(*projection.Projection, *log) {})
	log, err := hub.New(t.Context(), l.store, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := projection.Open(t.Context(),
		projection.Config{Path: path, Log: log, Store: l.store, Reviewers: []string{"judge"}, GitHub: []string{"github"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	alter(t, path, fmt.Sprintf(`INSERT INTO places (id, source, repo) VALUES (99, 'github', 'acme/new');
		INSERT INTO kinds VALUES (99, 99, 'security/S2', 'Security', 'major', 'open', 'm', 'g');
		INSERT INTO findings VALUES (1, 'f1', 99, %d, 0)`, began.UnixMilli()))
	if err := p.Tend(t.Context(), began); err != nil {
		t.Fatal(err)
	}
	note, err := l.store.Note(t.Context(), "day-"+began.Format(time.DateOnly))
	if err != nil || !strings.Contains(note, `"repo":"acme/new"`) || strings.Contains(note, `"repo":""`) {
		t.Errorf("the note is %s, %v", note, err)
	}
}
