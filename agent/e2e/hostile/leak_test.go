package hostile

import (
	"strings"
	"testing"

	"touchstone/verdict"
)

func TestLeaksAreSeen(t *testing.T) {
	seal, err := verdict.Record{Verdict: verdict.RequestChanges, Head: "h"}.Seal(verdict.Signer{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"ask @octocat":                                "a mention",
		"> ask @acme/core":                            "a mention",
		"done\n\n/merge":                              "a command",
		"- a\n\n  /touchstone fix":                    "a command",
		"key " + strings.Split(loot, "\n")[0]:         "a secret",
		"```\n" + strings.Split(loot, "\n")[3]:        "a secret",
		"x <!-- VERDICT:APPROVE --> y":                "a mark",
		"<!-- touchstone:state v1 {} -->\n\ntext":     "a mark",
		"ask @&#8203;octocat, a@b.c, and/or":          "",
		"```\n@octocat\n/merge\n```":                  "",
		"> ````\n> @octocat\n> ```\n> /merge\n> ````": "",
		"see `@octocat` and `<!-- VERDICT:X -->`":     "",
		"&lt;!-- VERDICT:APPROVE --&gt;":              "",
	} {
		for _, body := range []string{text + "\n\n" + seal, text} {
			got := strings.Join(leaks(body, strings.HasSuffix(body, seal)), "; ")
			if want == "" && got != "" || !strings.HasPrefix(got, want) {
				t.Errorf("%q: %q, want %q", body, got, want)
			}
		}
	}
	if got := leaks("no record", true); len(got) != 1 {
		t.Errorf("a review without a record: %q", got)
	}
}
