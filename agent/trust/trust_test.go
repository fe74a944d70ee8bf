package trust_test

import (
	"crypto/ed25519"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"touchstone/agent/forge"
	"touchstone/agent/trust"
	"touchstone/verdict"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// machine is an author's machine and a pull request of alice's.
func machine(t *testing.T) (*trust.Book, forge.PullRequest) {
	t.Helper()
	book, err := trust.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return book, forge.PullRequest{DatabaseID: 7, Viewer: "alice", Author: forge.User{Login: "alice"}}
}

func newKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	return keyOf(t, t.TempDir())
}

// keyOf is the key in a state directory.
func keyOf(t *testing.T, dir string) ed25519.PrivateKey {
	t.Helper()
	key, err := trust.Key(dir)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// review is judge's approval of a pull request, sealed by a signer.
func review(t *testing.T, s verdict.Signer) forge.SubmittedReview {
	t.Helper()
	seal, err := verdict.Record{Verdict: verdict.Approve, Head: "4f1c0de", BaseBranch: "main", Round: 1}.Seal(s)
	if err != nil {
		t.Fatal(err)
	}
	return forge.SubmittedReview{Author: forge.User{Login: "judge", ID: 42}, ByPerson: true, CanPush: true, State: forge.Approved,
		SHA: "4f1c0de", Body: "Fine.\n\n" + seal, SubmittedAt: noon}
}

// TestOnlyWhatAReviewerSignedIsBelieved checks that a record is recognised as foreign if its reviewer did not
// sign it for this pull request with a known key, because GitHub lets people edit reviews.
func TestOnlyWhatAReviewerSignedIsBelieved(t *testing.T) {
	t.Parallel()
	key, other := newKey(t), newKey(t)
	for name, tc := range map[string]struct {
		change func(r *forge.SubmittedReview, pr *forge.PullRequest)
		doubt  string
	}{
		"as it was posted":    {func(*forge.SubmittedReview, *forge.PullRequest) {}, ""},
		"the body was edited": {func(r *forge.SubmittedReview, _ *forge.PullRequest) { r.Body, r.EditedAt = "Hello!\n"+r.Body, &noon }, ""},
		"the record was edited": {func(r *forge.SubmittedReview, _ *forge.PullRequest) {
			r.Body = strings.Replace(r.Body, `"round":1`, `"round":2`, 1)
		}, "changed after it was signed"},
		"of another pull request": {func(_ *forge.SubmittedReview, pr *forge.PullRequest) { pr.DatabaseID++ }, "another pull request"},
		"signed with another key": {func(r *forge.SubmittedReview, pr *forge.PullRequest) {
			r.Body = review(t, trust.Signer(other, *pr)).Body
		}, "list all keys of that login under `keys`"},
		"not signed": {func(r *forge.SubmittedReview, _ *forge.PullRequest) {
			*r = review(t, verdict.Signer{})
			r.SubmittedAt = noon.Add(time.Second)
		}, "is not signed"},
		"not signed, and older": {func(r *forge.SubmittedReview, _ *forge.PullRequest) {
			*r = review(t, verdict.Signer{})
			r.SubmittedAt = noon.Add(-time.Second)
		}, ""},
		"the record is cut":       {func(r *forge.SubmittedReview, _ *forge.PullRequest) { r.Body = r.Body[:len(r.Body)-40] }, "cannot be read"},
		"the login is another's":  {func(r *forge.SubmittedReview, _ *forge.PullRequest) { r.Author.ID++ }, "another account"},
		"without the right":       {func(r *forge.SubmittedReview, _ *forge.PullRequest) { r.CanPush = false }, "may not push"},
		"the login in other case": {func(r *forge.SubmittedReview, _ *forge.PullRequest) { r.Author.Login = "Judge" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			book, pr := machine(t)
			pr.Reviews = []forge.SubmittedReview{review(t, trust.Signer(key, pr))}
			if o := book.Opinion(pr, pr.Reviews[0], []string{"judge"}); o.Record == nil || o.Doubt != "" {
				t.Fatalf("the first signed record is not believed: %s", o.Doubt)
			}
			if err := book.Meet(pr, []string{"judge"}); err != nil {
				t.Fatal(err)
			}
			r := review(t, trust.Signer(key, pr))
			tc.change(&r, &pr)
			pr.Reviews = []forge.SubmittedReview{r}
			o := book.Opinion(pr, r, []string{"judge"})
			if (o.Record == nil) != (tc.doubt != "") || !strings.Contains(o.Doubt, tc.doubt) {
				t.Errorf("believed: %v, doubt: %q", o.Record != nil, o.Doubt)
			}
		})
	}
}

// TestTheFirstKeyIsKept checks that the key is kept over a restart, and is not taken from an edited review.
func TestTheFirstKeyIsKept(t *testing.T) {
	t.Parallel()
	dir, key, other := t.TempDir(), newKey(t), newKey(t)
	book, err := trust.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, pr := machine(t)
	edited := review(t, trust.Signer(other, pr))
	edited.EditedAt = &noon
	pr.Reviews = []forge.SubmittedReview{edited}
	if o := book.Opinion(pr, edited, []string{"judge"}); o.Record != nil || !strings.Contains(o.Doubt, "was edited") {
		t.Errorf("the first key was taken from a review that was edited: %q", o.Doubt)
	}
	pr.Reviews = []forge.SubmittedReview{edited, review(t, trust.Signer(key, pr)), review(t, trust.Signer(other, pr))}
	believed := func(book *trust.Book) (all []bool) {
		for _, r := range pr.Reviews {
			all = append(all, book.Opinion(pr, r, []string{"judge"}).Record != nil)
		}
		return all
	}
	if got := believed(book); !slices.Equal(got, []bool{false, true, false}) {
		t.Errorf("before the first key is kept, the records are believed: %v", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "reviewers.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("asking for an opinion stored a key: %v", err)
	}
	if err := book.Meet(pr, []string{"judge"}); err != nil {
		t.Fatal(err)
	}
	if book, err = trust.Open(dir); err != nil {
		t.Fatal(err)
	}
	if known := book.Reviewer("Judge"); known.Key != trust.Public(key) || known.ID != 42 {
		t.Errorf("after a restart, judge is %+v", known)
	}
	if got := believed(book); !slices.Equal(got, []bool{false, true, false}) {
		t.Errorf("after a restart, the records are believed: %v", got)
	}
	// The way to go on after a key was lost or replaced.
	book.Settings = func() (map[string][]string, time.Time) {
		return map[string][]string{"Judge": {trust.Public(other)}}, time.Time{}
	}
	if o := book.Opinion(pr, review(t, trust.Signer(other, pr)), []string{"judge"}); o.Record == nil {
		t.Errorf("a key that is configured is not believed: %s", o.Doubt)
	}
	if o := book.Opinion(pr, review(t, trust.Signer(key, pr)), []string{"judge"}); o.Record != nil {
		t.Error("a key that is not configured any more is believed")
	}
}

func TestUnsignedRecordsCountUntilTheirDay(t *testing.T) {
	t.Parallel()
	book, pr := machine(t)
	for day, believed := range map[time.Time]bool{{}: true, noon.Add(time.Hour): true, noon: false, noon.Add(-time.Hour): false} {
		book.Settings = func() (map[string][]string, time.Time) { return nil, day }
		if o := book.Opinion(pr, review(t, verdict.Signer{}), []string{"judge"}); (o.Record != nil) != believed {
			t.Errorf("until %s: believed %v, want %v (%s)", day, o.Record != nil, believed, o.Doubt)
		}
	}
}

// TestAFreedLoginIsRefused checks that an account that takes over the login of a renamed account is refused.
func TestAFreedLoginIsRefused(t *testing.T) {
	t.Parallel()
	book, _ := machine(t)
	if err := book.Account("judge", 42); err != nil {
		t.Fatal(err)
	}
	if err := book.Account("Judge", 42); err != nil {
		t.Errorf("the same account: %v", err)
	}
	if err := book.Account("JUDGE", 43); err == nil || !strings.Contains(err.Error(), "belongs to another account") {
		t.Errorf("another account: %v", err)
	}
}

// TestAKeyIsItsMachinesAlone checks that the key is created once, that only its user may read it, and that a
// damaged key is not replaced.
func TestAKeyIsItsMachinesAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key, err := trust.Key(dir)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := trust.Key(dir); err != nil || !again.Equal(key) {
		t.Errorf("asked again: %v", err)
	}
	path := filepath.Join(dir, "reviewer.key")
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(path, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := trust.Key(dir); err == nil || !strings.Contains(err.Error(), "contains no key") {
		t.Errorf("with a damaged file: %v", err)
	}
}

// TestProcessesShareAKey checks that processes that need the key for the first time at once get the same one: the
// records that are signed with any other would never be trusted.
func TestProcessesShareAKey(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	keys := make([]ed25519.PrivateKey, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			var err error
			if keys[i], err = trust.Key(dir); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, key := range append(keys, keyOf(t, dir)) {
		if !key.Equal(keys[0]) {
			t.Error("two processes have different keys")
		}
	}
}
