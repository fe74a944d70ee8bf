package main

import (
	"encoding/json"

	"touchstone/verdict"
)

// script is the script of the scripted model, in the format that the model reads.
type script struct {
	Defects []defect `json:"defects"`
	// DelayMS is the delay before each of the model's events, in milliseconds.
	DelayMS int `json:"delay_ms"`
}

// defect is a mistake planted in the pull request: the wrong lines, the review's finding about them, and the
// lines that replace them.
type defect struct {
	Path     string          `json:"path"`
	Contains string          `json:"contains"`
	Fix      string          `json:"fix"`
	Finding  verdict.Finding `json:"finding"`
}

// thinking is the time, in milliseconds, that the scripted model takes for each of its events: enough to see
// the parties take turns.
const thinking = 60

// scriptFile returns the file with which the scripted model is started.
func scriptFile() ([]byte, error) {
	return json.MarshalIndent(script{Defects: defects, DelayMS: thinking}, "", "  ")
}

// defects are all defects of the pull request, as a careful reviewer who follows the guidelines would report
// them.
var defects = []defect{
	{
		Path:     "api/search.go",
		Contains: `	owner := r.URL.Query().Get("owner")`,
		Fix:      `	owner := a.user(r)`,
		Finding: verdict.Finding{
			Dimension: verdict.Security, Severity: verdict.Critical, Rule: "security/S2",
			Claim: "Anyone can search anyone's notes: the query string says whose.",
			Why: "All other requests act for the user whom the token names (`a.user(r)`). With `?owner=hubot` any known token " +
				"searches hubot's private notes, and the README promises that everybody sees their own notes only.",
			Verify: "`GET /search?q=milk&owner=hubot` with octocat's token finds no note of hubot's; a test says so.",
		},
	},
	{
		Path:     "api/search.go",
		Contains: `	a.log.Info("search", "owner", owner, "length", len(query), "authorization", r.Header.Get("Authorization"))`,
		Fix:      `	a.log.Info("search", "owner", owner, "length", len(query))`,
		Finding: verdict.Finding{
			Dimension: verdict.Security, Severity: verdict.Critical, Rule: "security/S4",
			Claim: "The bearer token is written to the log with every search.",
			Why: "Whoever can read the log, or a copy of it in a log store or a ticket, can act as any user who has searched. " +
				"The tokens do not expire, so they would all have to be replaced.",
			Verify: "Search with the logger set to a buffer: the token is not in it.",
		},
	},
	{
		Path: "api/search.go",
		Contains: `	if err != nil {
		notes = nil // an empty page is friendlier than an error
	}`,
		Fix: `	if err != nil {
		a.fail(w, r, err)
		return
	}`,
		Finding: verdict.Finding{
			Dimension: verdict.AIAntipattern, Severity: verdict.Critical, Rule: "ai-antipattern/X2",
			Claim: "A failing store is shown as an empty result with status 200.",
			Why: "A broken disk looks like \"you have no such note\": the caller draws the wrong conclusion and nobody is told, " +
				"since the error is not even logged. `a.fail` exists for this.",
			Verify: "With an unreadable note in the store, `GET /search` answers 500 and the log holds the error, as `GET /notes` does.",
		},
	},
	{
		Path:     "api/api.go",
		Contains: `	a.write(w, http.StatusOK, map[string]any{"results": notes})`,
		Fix:      `	a.write(w, http.StatusOK, map[string]any{"notes": notes})`,
		Finding: verdict.Finding{
			Dimension: verdict.Impact, Severity: verdict.Critical, Rule: "impact/I2",
			Claim: "`GET /notes` now answers with `results` instead of `notes`.",
			Why: "The new `writeNotes` serves both requests. Every client that reads `notes` sees an empty list from now on. The " +
				"README still documents `{\"notes\":[…]}`, " +
				"the pull request does not mention the change, and TestListShowsYourOwnNotes fails because of it.",
			Verify: "`go test ./api` passes without a change to TestListShowsYourOwnNotes.",
		},
	},
	{
		Path: "api/search_test.go",
		Contains: `	answer := do(h, "GET", "/search?q=MILK&owner=octocat", "octocat", "")
	t.Logf("GET /search answers %d: %s", answer.Code, answer.Body)`,
		Fix: `	for query, want := range map[string]string{
		"q=MILK":              "Shopping", // whatever the case, and not hubot's milk chute
		"q=novel&owner=hubot": "Reading",  // nobody searches for somebody else
	} {
		if got := titles(t, do(h, "GET", "/search?"+query, "octocat", "")); len(got) != 1 || got[0] != want {
			t.Errorf("GET /search?%s finds %q, want %q", query, got, want)
		}
	}`,
		Finding: verdict.Finding{
			Dimension: verdict.Test, Severity: verdict.Major, Rule: "test/T3",
			Claim: "TestSearch compares the answer with nothing and cannot fail.",
			Why: "It passes with any status and any body, also with other people's notes in it, and gives the new endpoint a " +
				"coverage that proves nothing.",
			Verify: "Let `search` answer with all notes of all owners: the test goes red.",
		},
	},
	{
		Path:     "README.md",
		Contains: "| `GET /search`     | `?query=milk`: the first 20 of your notes that contain it   |",
		Fix:      "| `GET /search`     | `?q=milk`: your notes that contain it, newest first, 20 at most |",
		Finding: verdict.Finding{
			Dimension: verdict.Doc, Severity: verdict.Major, Rule: "doc/D1",
			Claim:  "The README says `query`, the handler reads `q`.",
			Why:    "Whoever follows the README is answered with 400 and asked what to search for.",
			Verify: "The request in the README, sent as it stands there, finds the note.",
		},
	},
	{
		Path: "api/search.go",
		Contains: `		a.log.Error("search without a query", "path", r.URL.Path)
		http.Error(w, "say what to search for: ?q=milk", http.StatusBadRequest)`,
		Fix: `		http.Error(w, "say what to search for: ?q=milk", http.StatusBadRequest)`,
		Finding: verdict.Finding{
			Dimension: verdict.Observability, Severity: verdict.Minor, Rule: "observability/O6",
			Claim: "A caller's mistake is logged as an error.",
			Why: "A search without `q` is nobody's emergency. Errors are what somebody gets up for. Anyone can fill the log with " +
				"these, and the real ones drown.",
			Verify: "`GET /search` answers 400 and logs nothing, as `POST /notes` does with a body that is no note.",
		},
	},
	{
		Path:     "store/search.go",
		Contains: "// Search returns owner's notes whose title or text contians query, whatever",
		Fix:      "// Search returns owner's notes whose title or text contains query, whatever",
		Finding: verdict.Finding{
			Dimension: verdict.Doc, Severity: verdict.Nit, Rule: "doc/D12",
			Claim:  "\"contians\" should be \"contains\".",
			Why:    "It is the first thing that one reads of the function.",
			Verify: "Read the comment.",
		},
	},
}
