package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/agent/config"
	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// choose has the relay's administrator change the settings for all agents.
func (w *world) choose(patch string) {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.Ctx, http.MethodPatch, w.relay.url+"/control", strings.NewReader(patch))
	w.must(err)
	request.Header.Set("Authorization", "Bearer "+w.relay.token)
	response, err := http.DefaultClient.Do(request)
	w.must(err)
	w.must(response.Body.Close())
	if response.StatusCode != http.StatusOK {
		w.t.Fatalf("the relay answered %s to %s", response.Status, patch)
	}
}

// inForce waits until the reviewer's agent has heard with which model to review.
func (w *world) inForce(model string) {
	w.t.Helper()
	w.until("the choice is in force", func() bool {
		return w.agents[decide.Reviewer].inForce.Config().Engine.ModelFor(config.ReviewFull) == model
	})
}

// reviewedBy waits for the merge and checks with which model all reviews were made.
func (w *world) reviewedBy(ref forge.Ref, model string) {
	w.t.Helper()
	w.until("merged", func() bool { return w.merged(ref) })
	for i, review := range w.reviews(ref) {
		record, err := verdict.ParseRecord(review.GetBody())
		w.must(err)
		if record.Model != model {
			w.t.Errorf("review %d of %s was made by %q, want %q", i+1, ref, record.Model, model)
		}
	}
}

// An administrator of the relay switches models for the connected agents and for one that connects later, and
// back again. An agent that does not listen keeps its own model.
func TestRelayChoosesTheModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoDefects())
	w.agents[decide.Reviewer].cfg.Engine.Model = "own"
	w.startBoth()
	w.choose(`{"engine.review.model":"first","engine.off":"none-such"}`)
	w.inForce("first")
	one := w.openBad(false)
	w.reviewedBy(one, "first")

	// One that has never heard of the relay.
	later := w.agents[decide.Reviewer]
	later.halt()
	w.choose(`{"engine.review.model":"second"}`)
	later.cfg.StateDir = w.anew(later.cfg.StateDir)
	later.start()
	w.inForce("second")
	two := w.open("Later", map[string]string{"store/later.go": "package store\n"}, false)
	w.reviewedBy(two, "second")

	w.choose(`{"engine.review.model":null}`)
	w.inForce("own")
	three := w.open("Unset", map[string]string{"store/unset.go": "package store\n"}, false)
	w.reviewedBy(three, "own")

	later.halt()
	w.choose(`{"engine.review.model":"third"}`)
	later.cfg.Control = false
	later.start()
	four := w.open("Deaf", map[string]string{"store/deaf.go": "package store\n"}, false)
	w.reviewedBy(four, "own")
}

// anew is an empty state directory but for the reviewer's key, without which a person is called.
func (w *world) anew(state string) string {
	w.t.Helper()
	dir := w.t.TempDir()
	key, err := os.ReadFile(filepath.Join(state, "reviewer.key"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "reviewer.key"), key, 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return dir
}
