package verdict

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestParseCommand(t *testing.T) {
	for body, want := range map[string]Command{
		"/touchstone review":                               {Verb: AskReview},
		"/touchstone fix":                                  {Verb: AskFix},
		"/touchstone stop":                                 {Verb: Stop},
		"  /touchstone   resume  ":                         {Verb: Resume},
		"/touchstone resume the flaky check is mended":     {Verb: Resume, Reason: "the flaky check is mended"},
		"/touchstone stop\r\nI take over.":                 {Verb: Stop},
		"/Touchstone STOP":                                 {Verb: Stop},
		"/touchstone stop.":                                {Verb: Stop},
		"/touchstone resume, it is mended":                 {Verb: Resume, Reason: "it is mended"},
		"\n \n/touchstone stop":                            {Verb: Stop},
		"> so be it?\r\n>\r\n\r\n/touchstone stop":         {Verb: Stop},
		"/touchstone break-glass production is down":       {Verb: BreakGlass, Reason: "production is down"},
		"/touchstone waive 0badcafe   we  own  that input": {Verb: Waive, Finding: "0badcafe", Reason: "we own that input"},
		"/touchstone waive `0badcafe` ours":                {Verb: Waive, Finding: "0badcafe", Reason: "ours"},
		"`/touchstone resume`":                             {Verb: Resume},
		"@alice /touchstone review":                        {Verb: AskReview},
		"@acme/judges, @judge[bot]: `/touchstone fix`":     {Verb: AskFix},
		"/touchstone dispute #0badcafe it is bound above":  {Verb: Dispute, Finding: "0badcafe", Reason: "it is bound above"},
	} {
		if got, ok := ParseCommand(body); !ok || got != want {
			t.Errorf("%q is %+v, %v", body, got, ok)
		}
	}
	for _, body := range []string{
		"`/touchstone stop`", "`/touchstone stop` please", "/touchstone stop?", "/touchstone: stop", "/touchstone,stop", "**/touchstone stop**",
		"- /touchstone stop",
		"/touchstone\u00a0stop", "\u200b/touchstone stop", "&#8203;/touchstone stop", "<!-- x -->\n/touchstone stop", "Thanks!\n/touchstone stop",
		"1. @alice: ~~_/touchstone stop_~~", "```\nlog\n```\n/touchstone stop", "# /Touchstone STOP!",
	} {
		if got, ok := ParseCommand(body); !ok || got != (Command{Verb: Stop}) {
			t.Errorf("%q is %+v, %v; want to stop", body, got, ok)
		}
	}
	for _, body := range []string{
		"", "/touchstone", "/touchstone ", "/touchstone merge", "/touchstonestop", "/touchstone stopp", "/touchstone stop-all", "> ",
		"please /touchstone stop", "> /touchstone stop", "> /touchstone stop\nWhat does it do?", "```\n/touchstone stop\n```",
		"Thanks!\n/touchstone resume",
		"`/touchstone resume` please", "- /touchstone resume", "**/touchstone resume**", "/touchstone\u00a0resume",
		"`/touchstone waive 0badcafe `ours``",
		"/touchstone break-glass", "/touchstone break-glass  !", "/touchstone waive", "/touchstone waive 0badcafe", "/touchstone waive all of it",
		"/touchstone waive 0BADCAFE it is fine", "/touchstone waive 0badcaf it is fine", "/touchstone dispute it is wrong",
	} {
		if got, ok := ParseCommand(body); ok {
			t.Errorf("%q is taken for %+v", body, got)
		}
	}
}

func TestOrdersCountOnlyFromWhoMayGiveThem(t *testing.T) {
	const waive = "/touchstone waive 0badcafe ours"
	for name, tt := range map[string]struct {
		comment Comment
		counts  bool
	}{
		"a writer stops":            {Comment{By: "mona", Body: "/touchstone stop", CanPush: true}, true},
		"a maintainer waives":       {Comment{By: "mona", Body: waive, CanPush: true, CanWaive: true, Independent: true}, true},
		"who wrote of it waives":    {Comment{By: "mona", Body: waive, CanPush: true, CanWaive: true}, false},
		"who wrote of it breaks it": {Comment{By: "mona", Body: "/touchstone break-glass now", CanPush: true, CanBreakGlass: true}, false},
		"a maintainer breaks it": {Comment{By: "mona", Body: "/touchstone break-glass now", CanPush: true, CanBreakGlass: true,
			Independent: true}, true},
		"refused before":            {Comment{By: "mona", Body: waive, CanPush: true, CanWaive: true, Independent: true, Refused: true}, false},
		"refused before, to stop":   {Comment{By: "mona", Body: "/touchstone stop", CanPush: true, Refused: true}, true},
		"a writer waives":           {Comment{By: "mona", Body: waive, CanPush: true}, false},
		"a writer breaks the glass": {Comment{By: "mona", Body: "/touchstone break-glass now", CanPush: true}, false},
		"a writer disputes":         {Comment{By: "mona", Body: "/touchstone dispute 0badcafe no", CanPush: true}, true},
		"a stranger stops":          {Comment{By: "mallory", Body: "/touchstone stop"}, false},
		"a bot stops":               {Comment{By: "mona[bot]", Body: "/touchstone stop", CanPush: true, Bot: true}, false},
		"edited":                    {Comment{By: "mona", Body: "/touchstone resume", CanPush: true, Edited: true}, false},
		"edited, to stop":           {Comment{By: "mona", Body: "/touchstone stop", CanPush: true, Edited: true}, true},
		"in a review":               {Comment{By: "mona", Body: "/touchstone resume", CanPush: true, InReview: true}, false},
		"in a review, to stop":      {Comment{ID: 7, By: "mona", Body: "/touchstone stop", CanPush: true, InReview: true}, true},
		"a reviewing agent":         {Comment{By: "Alice", Body: "/touchstone stop", CanPush: true}, false},
		"an agent in another's name": {Comment{By: "mona", Body: "/touchstone stop\n<!-- touchstone:escalation v1 0 -->", CanPush: true,
			ByAuthor: true}, false},
		"an agent's mark by another": {Comment{By: "mona", Body: "/touchstone stop\n<!-- touchstone:escalation v1 0 -->", CanPush: true}, true},
		"no command":                 {Comment{By: "mona", Body: "Stop it.", CanPush: true}, false},
	} {
		tt.comment.At = noon
		orders := Orders([]Comment{tt.comment}, []string{"alice"})
		if counts := len(orders) == 1; counts != tt.counts {
			t.Errorf("%s: %+v", name, orders)
		}
		if tt.counts && orders[0].ID != 0 {
			t.Errorf("%s: a review's id is taken for a comment's", name)
		}
		if tt.counts && (orders[0].By != tt.comment.By || !orders[0].At.Equal(noon)) {
			t.Errorf("%s: given by %s at %s", name, orders[0].By, orders[0].At)
		}
	}
}

// What others write is an order only if its first line is one and nothing else.
func FuzzParseCommand(f *testing.F) {
	for _, seed := range []string{
		"/touchstone stop", "/touchstone waive 0badcafe ours", "/touchstone break-glass \xff", "/touchstone dispute `0badcafe` a\r\nb",
		" /touchstone\treview\x00", "/touchstone resume\u2028x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		c, ok := ParseCommand(body)
		if !ok {
			if c != (Command{}) {
				t.Fatalf("no command, and yet %+v", c)
			}
			return
		}
		line := opening(body)
		if !MeantAsOrder(body) || strings.ContainsAny(c.Reason, "\r\n") {
			t.Fatalf("%q is taken for %+v", body, c)
		}
		if about := c.Verb == Dispute || c.Verb == Waive; about != (len(c.Finding) == 8) {
			t.Fatalf("%s of %q", c.Verb, c.Finding)
		}
		if c.Reason == "" && (c.Verb == Dispute || (c.Verb == Waive || c.Verb == BreakGlass)) || len(c.Reason) > MaxReason ||
			!utf8.ValidString(c.Reason) {
			t.Fatalf("%s because %q", c.Verb, c.Reason)
		}
		if again, ok := ParseCommand(line); c.Verb != Stop && (!ok || again != c) {
			t.Fatalf("the line alone is %+v, %v", again, ok)
		}
		c.By, c.At = "mona", time.Time{}
		if orders := Orders([]Comment{{By: "mona", Body: body}}, nil); len(orders) > 0 {
			t.Fatalf("somebody who may nothing ordered %+v", orders)
		}
	})
}

func TestWhatIsMeantAsAnOrderIsAnswered(t *testing.T) {
	known := Ledger{{ID: "0badcafe", Status: Open, Severity: Major}}
	for name, tt := range map[string]struct {
		comment Comment
		why     string // a part of it; empty where nobody is answered
	}{
		"an order":             {Comment{Body: "/touchstone stop", CanPush: true}, ""},
		"a mistyped verb":      {Comment{Body: "/touchstone resum", CanPush: true}, "The orders are `/touchstone review`, "},
		"nothing":              {Comment{Body: "/touchstone", CanPush: true}, "The orders are"},
		"with a question mark": {Comment{Body: "/Touchstone stop ?", CanPush: true}, ""},
		"no reason": {Comment{Body: "/touchstone break-glass\nIt burns.", CanPush: true, CanBreakGlass: true},
			"Write `/touchstone break-glass REASON`, all of it on the first line"},
		"no finding":             {Comment{Body: "/touchstone waive that one", CanPush: true, CanWaive: true}, "`/touchstone waive ID REASON`"},
		"a finding nobody knows": {Comment{Body: "/touchstone dispute 00000000 no", CanPush: true}, "has the id `00000000`"},
		"a known one":            {Comment{Body: "/touchstone dispute 0badcafe no", CanPush: true}, ""},
		"without the right":      {Comment{Body: "/touchstone waive 0badcafe no", CanPush: true}, "`waive` needs more rights"},
		"with one of the rights": {Comment{Body: "/touchstone waive 0badcafe no", CanPush: true, CanBreakGlass: true},
			"`waive` needs more rights"},
		"of one's own work": {Comment{Body: "/touchstone waive 0badcafe no", CanPush: true, CanWaive: true},
			"`waive` counts only from someone who wrote and pushed no part of this pull request"},
		"glass for one's own": {Comment{Body: "/touchstone break-glass now", CanPush: true, CanBreakGlass: true},
			"ask someone else who maintains the repository"},
		"refused before":       {Comment{Body: "/touchstone resume", CanPush: true, Refused: true}, "when you had no right to give it"},
		"by who may not order": {Comment{Body: "/touchstone resum"}, ""},
		"by a bot":             {Comment{Body: "/touchstone resum", CanPush: true, Bot: true}, ""},
		"edited":               {Comment{Body: "/touchstone resume", CanPush: true, Edited: true}, "An edited comment gives no order"},
		"edited, to stop":      {Comment{Body: "/touchstone stop", CanPush: true, Edited: true}, ""},
		"by an agent":          {Comment{By: "alice", Body: "/touchstone resum", CanPush: true}, ""},
		"an answer":            {Comment{Body: "/touchstone resum\n<!-- touchstone:reply v1 1 -->", CanPush: true, ByAuthor: true}, ""},
		"marked":               {Comment{Body: "`/touchstone resume` please", CanPush: true}, "Write `/touchstone resume`"},
		"in a list": {Comment{Body: "- /touchstone waive 0badcafe no", CanPush: true, CanWaive: true},
			"Write `/touchstone waive ID REASON`"},
		"on a later line": {Comment{Body: "Thanks!\n/touchstone resume", CanPush: true},
			"Write `/touchstone resume`, all of it on the first line of a comment"},
		"to stop, in passing": {Comment{Body: "please /touchstone stop", CanPush: true}, "The orders are"},
		"in a review": {Comment{Body: "/touchstone dispute 0badcafe no", CanPush: true, InReview: true},
			"only in a comment on the conversation"},
		"to stop, in a review": {Comment{Body: "/touchstone stop", CanPush: true, InReview: true}, ""},
		"in passing":           {Comment{Body: "Try /touchstone resume.", CanPush: true}, ""},
		"another program's":    {Comment{Body: "/touchstones", CanPush: true}, ""},
	} {
		if tt.comment.By == "" {
			tt.comment.By = "mona"
		}
		tt.comment.ID = 7
		all := Misunderstood([]Comment{tt.comment}, []string{"Alice"}, known)
		if got := len(all) == 1; got != (tt.why != "") ||
			got && (all[0].ID != 7 || all[0].By != "mona" || !strings.Contains(all[0].Why, tt.why)) {
			t.Errorf("%s: %+v", name, all)
		}
	}
}
