package token

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"touchstone/relay/event"
)

// invite makes an invitation for a day and stores it.
func invite(t *testing.T, store Store, name string, mode event.Mode) string {
	t.Helper()
	made, code, err := NewInvite(name, mode, event.Filter{Repos: []string{"acme/app"}}, []string{"acme-reviewer"}, 24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := Add(t.Context(), store, made); err != nil {
		t.Fatal(err)
	}
	return code
}

func TestInviteGivesOneTokenOfItsScope(t *testing.T) {
	store := emptyFile(t)
	code := invite(t, store, "alice", event.ForAuthor)
	c := newChecker(t, store)
	if !c.Required() {
		t.Error("a relay with an invitation and no token lets everybody read")
	}
	if _, ok := c.Check(code); ok {
		t.Error("the code reads events")
	}
	if _, ok := c.Check(event.TokenPrefix + strings.TrimPrefix(code, event.CodePrefix)); ok {
		t.Error("the code, written as a token, reads events")
	}
	invited, text, err := c.Redeem(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	if invited.Name != "alice" ||
		invited.Invite.Mode != event.ForAuthor || !slices.Equal(invited.Invite.Reviewers, []string{"acme-reviewer"}) {
		t.Errorf("invited to %+v, %+v", invited, invited.Invite)
	}
	grant, ok := c.Check(text)
	if !ok || grant.Role != Subscriber || !slices.Equal(grant.Repos, []string{"acme/app"}) {
		t.Errorf("the token is good: %v, %+v", ok, grant)
	}
	if _, _, err := c.Redeem(t.Context(), code); !errors.Is(err, ErrInviteUsed) {
		t.Errorf("the second time: %v", err)
	}
}

func TestInviteOfAnAdministrator(t *testing.T) {
	store := emptyFile(t)
	code := invite(t, store, "ops", event.ForAdmin)
	c, _ := NewChecker(t.Context(), store)
	_, text, err := c.Redeem(t.Context(), code)
	if grant, ok := c.Check(text); err != nil || !ok || grant.Role != Admin {
		t.Errorf("%v, %+v", err, grant)
	}
}

func TestInviteIsRedeemedOnceHoweverManyTry(t *testing.T) {
	store := emptyFile(t)
	code := invite(t, store, "alice", event.ForAuthor)
	var group sync.WaitGroup
	results := make(chan error, 8)
	for range cap(results) {
		c := newChecker(t, store)
		group.Go(func() { _, _, err := c.Redeem(t.Context(), code); results <- err })
	}
	group.Wait()
	close(results)
	won := 0
	for err := range results {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, ErrInviteUsed):
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d of 8 got a token", won)
	}
}

// Strangers who guess codes do not delay changes of the tokens: a wrong code is refused even while somebody
// else holds the lock.
func TestGuessTakesNoLock(t *testing.T) {
	store := emptyFile(t)
	code := invite(t, store, "alice", event.ForAuthor)
	c := newChecker(t, store)
	_, other, err := NewInvite("mallory", event.ForAuthor, event.Filter{}, nil, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	id, _, _ := event.SplitToken(code, event.CodePrefix)
	_, secret, _ := event.SplitToken(other, event.CodePrefix)
	err = store.Update(t.Context(), func(tokens []Token) ([]Token, error) {
		for _, guess := range []string{other, event.CodePrefix + id + "_" + secret} {
			if _, _, err := c.Redeem(t.Context(), guess); !errors.Is(err, ErrNoInvite) {
				t.Errorf("a guess while the tokens are changed: %v", err)
			}
		}
		return tokens, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestInviteThatIsNotGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := emptyFile(t)
		code := invite(t, store, "alice", event.ForAuthor)
		other := invite(t, emptyFile(t), "alice", event.ForAuthor)
		made, text := mint(t, "laptop-1", event.Filter{})
		if err := Add(t.Context(), store, made); err != nil {
			t.Fatal(err)
		}
		c := newChecker(t, store)
		for name, wrong := range map[string]string{
			"empty":               "",
			"a token":             text,
			"a token as a code":   event.CodePrefix + strings.TrimPrefix(text, event.TokenPrefix),
			"of another relay":    other,
			"with another secret": code[:len(code)-52] + other[len(other)-52:],
			"cut short":           code[:len(code)-1],
		} {
			if _, _, err := c.Redeem(t.Context(), wrong); !errors.Is(err, ErrNoInvite) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if (Invite{Mode: event.ForAuthor, Expires: clock().AddDate(1, 0, 0)}).good(clock()) {
			t.Error("an invitation that was made while the clock was a year ahead is good for that long")
		}
		time.Sleep(24 * time.Hour)
		if _, _, err := c.Redeem(t.Context(), code); !errors.Is(err, ErrInviteExpired) {
			t.Errorf("a day later: %v", err)
		}
		id, _, _ := event.SplitToken(code, event.CodePrefix)
		if _, err := Revoke(t.Context(), store, id); err != nil {
			t.Fatal(err)
		}
		if _, _, err := c.Redeem(t.Context(), code); !errors.Is(err, ErrNoInvite) {
			t.Errorf("revoked: %v", err)
		}
	})
}

// TestInviteNamesReviewersThatAgentsAccept checks that the relay accepts what agent.yaml accepts as reviewers.
func TestInviteNamesReviewersThatAgentsAccept(t *testing.T) {
	logins := []string{"octocat", "acme-reviewer[bot]", "octo_acme"}
	if _, _, err := NewInvite("a", event.ForAuthor, event.Filter{}, logins, time.Hour); err != nil {
		t.Error(err)
	}
}

func TestNewInviteRefuses(t *testing.T) {
	for name, make := range map[string]func() error{
		"no name":      func() error { _, _, err := NewInvite("", event.ForAuthor, event.Filter{}, nil, time.Hour); return err },
		"another mode": func() error { _, _, err := NewInvite("a", "boss", event.Filter{}, nil, time.Hour); return err },
		"too short": func() error {
			_, _, err := NewInvite("a", event.ForAuthor, event.Filter{}, nil, time.Second)
			return err
		},
		"too long": func() error {
			_, _, err := NewInvite("a", event.ForAuthor, event.Filter{}, nil, 31*24*time.Hour)
			return err
		},
		"a false login": func() error {
			_, _, err := NewInvite("a", event.ForAuthor, event.Filter{}, []string{"a b"}, time.Hour)
			return err
		},
		"a false filter": func() error {
			_, _, err := NewInvite("a", event.ForAuthor, event.Filter{Repos: []string{"["}}, nil, time.Hour)
			return err
		},
	} {
		if err := make(); err == nil {
			t.Errorf("%s: an invitation", name)
		}
	}
}

// TestAnExpiredInviteKeepsNoNameFromAnother checks that somebody who did not join in time gets another invitation under the
// same name, and that a good invitation and a token still keep theirs.
func TestAnExpiredInviteKeepsNoNameFromAnother(t *testing.T) {
	file := File{Path: filepath.Join(t.TempDir(), "tokens")}
	invitation := func() (Token, string) {
		t.Helper()
		made, code, err := NewInvite("alice", event.ForAuthor, event.Filter{}, nil, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return made, code
	}
	late, _ := invitation()
	late.Invite.Expires = clock().Add(-time.Minute)
	good, code := invitation()
	for _, made := range []Token{late, good} {
		if err := Add(t.Context(), file, made); err != nil {
			t.Fatal(err)
		}
	}
	another, _ := invitation()
	if err := Add(t.Context(), file, another); err == nil {
		t.Error("two good invitations have one name")
	}
	if _, _, err := redeem(t.Context(), file, code); err != nil {
		t.Fatal(err)
	}
	if err := Add(t.Context(), file, another); err == nil {
		t.Error("an invitation and a token have one name")
	}
	if all, err := file.Load(t.Context()); err != nil || len(all) != 2 || all[0].Revoked == nil {
		t.Errorf("it holds %+v, %v", all, err)
	}
}
