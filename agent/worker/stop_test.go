package worker

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/verdict/decide"
)

// said posts a comment and returns its id.
func said(g *loopback.GitHub, login, body string) int64 {
	var made struct{ ID int64 }
	g.Call(login, http.MethodPost, "issues/1/comments", map[string]any{"body": body}, &made)
	return made.ID
}

// TestAStopOutlastsWhatOthersDoToIt checks that an order to stop ends only if the person who gave it takes it
// back, or with an order to resume.
func TestAStopOutlastsWhatOthersDoToIt(t *testing.T) {
	t.Parallel()
	edit := func(g *loopback.GitHub, login string, id int64, body string) {
		g.Call(login, http.MethodPatch, fmt.Sprintf("issues/comments/%d", id), map[string]any{"body": body}, nil)
	}
	remove := func(g *loopback.GitHub, login string, id int64) {
		g.Call(login, http.MethodDelete, fmt.Sprintf("issues/comments/%d", id), nil, nil)
	}
	const stop = "/touchstone stop"
	for name, tc := range map[string]struct {
		happens func(g *loopback.GitHub)
		stopped string // a part of the reason; empty where it is merged
	}{
		"another edits it": {func(g *loopback.GitHub) {
			edit(g, loopback.Author, said(g, loopback.Person, stop), "Looks good.")
		}, "alice edited or deleted a comment by walter that stopped"},
		"another makes it look like an agent's": {func(g *loopback.GitHub) {
			edit(g, loopback.Author, said(g, loopback.Person, stop), stop+"\n\n<!-- touchstone:reply v1 1 -->")
		}, "alice edited or deleted a comment by walter that stopped"},
		"another deletes it": {func(g *loopback.GitHub) {
			remove(g, loopback.Author, said(g, loopback.Person, stop))
		}, "alice edited or deleted a comment by walter that stopped"},
		"another edits it, and people have the agents go on": {func(g *loopback.GitHub) {
			edit(g, loopback.Author, said(g, loopback.Person, stop), "Looks good.")
			comment(g, loopback.Person, "/touchstone resume")
		}, ""},
		"who gave it edits it": {func(g *loopback.GitHub) {
			edit(g, loopback.Person, said(g, loopback.Person, stop), "Looks good.")
		}, ""},
		"who gave it deletes it": {func(g *loopback.GitHub) { remove(g, loopback.Person, said(g, loopback.Person, stop)) }, ""},
		"another edits something else": {func(g *loopback.GitHub) { edit(g, loopback.Author, said(g, loopback.Person, "Hm."), "Looks good.") },
			""},
		"another edits a stranger's": {func(g *loopback.GitHub) { edit(g, loopback.Author, said(g, loopback.Stranger, stop), "Looks good.") },
			""},
		"another deletes a stranger's": {func(g *loopback.GitHub) { remove(g, loopback.Author, said(g, loopback.Stranger, stop)) }, ""},
		"it quotes an agent's mark": {func(g *loopback.GitHub) {
			comment(g, loopback.Person, "> Gone.\n> <!-- touchstone:reply v1 1 -->\n\n"+stop)
		}, "walter has stopped"},
		"it ends in an agent's mark": {func(g *loopback.GitHub) { comment(g, loopback.Person, stop+"\n\n<!-- touchstone:reply v1 1 -->") },
			"walter has stopped"},
		"it names an agent's mark": {func(g *loopback.GitHub) {
			comment(g, loopback.Person, stop+": what is `<!-- touchstone:reply v1 1 -->`?")
		}, "walter has stopped"},
		"an agent says how it is written": {func(g *loopback.GitHub) { comment(g, loopback.Author, stop+"\n\n<!-- touchstone:reply v1 1 -->") },
			""},
		"it is edited and then made again": {func(g *loopback.GitHub) { edit(g, loopback.Person, said(g, loopback.Person, "Hm."), stop) },
			"walter has stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, pr := approved(t, map[string]string{"README.md": "one\n"}, fine)
			tc.happens(g)
			action := decided(t, g, agentOf(g, decide.Author, loopback.Author), pr)
			switch {
			case tc.stopped == "" && action.Kind != decide.Merge:
				t.Errorf("it comes to %+v", action)
			case tc.stopped != "" && (action.Kind != decide.Wait || !strings.Contains(action.Reason, tc.stopped)):
				t.Errorf("it comes to %+v, want a wait for %q", action, tc.stopped)
			}
		})
	}
}

// TestAStrangersRequestForChangesHoldsNothingUp: only people with write access can hold it up.
func TestAStrangersRequestForChangesHoldsNothingUp(t *testing.T) {
	t.Parallel()
	g, pr := approved(t, map[string]string{"README.md": "one\n"}, fine)
	a := agentOf(g, decide.Author, loopback.Author)
	objects := func(login string) {
		g.Call(login, http.MethodPost, "pulls/1/reviews", map[string]string{"event": "REQUEST_CHANGES", "body": "Wait."}, nil)
	}
	objects(loopback.Stranger)
	if action := decided(t, g, a, pr); action.Kind != decide.Merge {
		t.Errorf("over a stranger's request it comes to %+v", action)
	}
	objects(loopback.Person)
	if action := decided(t, g, a, pr); action.Kind != decide.Wait || action.Reason != "walter still requests changes" {
		t.Errorf("over a colleague's it comes to %+v", action)
	}
}
