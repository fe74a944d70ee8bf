package guidelines

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"touchstone/worktree/lazyregexp"
)

// wordDocsOnly is decided last, from what the files are.
const wordDocsOnly = "docs-only"

// changePredicates decide the words about a change as a whole. Where one holds
// it says why.
var changePredicates = map[string]func(Change) (why string, holds bool){
	"all":             func(Change) (string, bool) { return "every change", true },
	"bug-fix":         bugFix,
	"post-review-fix": postReviewFix,
}

func postReviewFix(change Change) (string, bool) {
	return fmt.Sprintf("this is round %d", change.Round), change.Round > 1
}

var (
	// A title says "fix" behind at most a ticket, a component or a Conventional
	// Commits scope (https://www.conventionalcommits.org): "ABC-12: Fix …",
	// "net/http: fix …", "fix(api)!: …".
	fixTitle = lazyregexp.New(`^(?i:[^\pL\[(]*(?:[\[(][^\])]*[\])][^\pL]*)?(?:[a-z]+-\d+[\s:]+)?(?:([\w./,*-]+)(?:\([^)]*\))?: ` +
		`*)?(?:bug|hot)?fix(?:es|ed)?(?:[^\w-]|$))`)
	// "docs: fix a typo" says itself that it repairs no defect.
	// Some write the kind of a change in brackets: "[FIXED] …", "[bugfix][api] …".
	fixTag        = lazyregexp.New(`^(?i)[\s*]*(?:[\[(][^\])]*[\])]\s*)*?[\[(](?:bug|(?:bug|hot)?[ -]?fix(?:es|ed)?)[\])]`)
	harmlessTypes = []string{"docs", "doc", "style", "chore", "ci", "build", "test", "tests", "refactor", "perf", "feat", "deps"}
	// fixFragment is a fragment of a change log that its name makes a repair, as towncrier and its
	// kin read it (https://towncrier.readthedocs.io/en/stable/tutorial.html): "changes/12.bugfix.rst".
	fixFragment = fragment(`[^/]+`, `(?:bug|hot)?fix(?:es|ed)?|bug`)
	fixBranch   = lazyregexp.New(`(?i)^(?:[^/]+/)?(?:bug|hot)?fix(?:es)?[-_/]`)
	// recurrenceAction is the line by which a bug fix says what keeps the defect from coming
	// back; docs/recurrence.md tells authors its form.
	recurrenceAction = lazyregexp.New(`(?im)^[ \t]*(?:[-*][ \t]+)?(recurrence:[ \t]*(add lint|roll out|add guideline` +
		`|single occurrence)\b[ \t]*\S[^\r\n]*)`)
)

// Recurrence is what a text declares to keep a defect from coming back: each line as it stands,
// by its action in lower case ("add lint", "roll out", "add guideline", "single occurrence").
// Anything else behind "Recurrence:" declares nothing.
func Recurrence(texts ...string) map[string]string {
	declared := map[string]string{}
	for _, text := range texts {
		for _, m := range recurrenceAction.FindAllStringSubmatch(text, -1) {
			declared[strings.ToLower(m[2])] = strings.TrimSpace(m[1])
		}
	}
	return declared
}

// bugFix takes a change at its word: it calls itself a fix, or it declares what
// keeps a defect from coming back, which only a fix has to.
func bugFix(change Change) (string, bool) {
	isBug := func(label string) bool { return strings.EqualFold(label, "bug") }
	title := fixTitle.FindStringSubmatch(change.Title)
	switch {
	case title != nil && !slices.Contains(harmlessTypes, strings.ToLower(title[1])):
		return "the title says fix", true
	case fixTag.MatchString(change.Title):
		return "the title says fix", true
	case slices.ContainsFunc(change.Files, func(f File) bool { return fixFragment.MatchString(f.Path) && arrives(f) }):
		return "it adds a fragment to the change log that says fix", true
	case fixBranch.MatchString(change.Branch):
		return "the branch is named fix", true
	case slices.ContainsFunc(change.Labels, isBug):
		return "it has the label bug", true
	case len(Recurrence(append(slices.Clone(change.Commits), change.Body)...)) > 0:
		return "it declares a recurrence action", true
	}
	return "", false
}

// fragment matches the paths of a change log's fragments by their names and kinds.
func fragment(name, kind string) *lazyregexp.Regexp {
	return lazyregexp.New(`(?i)(?:^|/)(?:changes|changelogs?|news|newsfragments|fragments)(?:\.d)?/(?:[^/]+/)*` + name + `\.(?:` + kind +
		`)(?:\.\d+)?(?:\.(?:md|rst|txt))?$`)
}

// arrives reports whether a change adds a file, or may: a file whose patch was left out counts as
// added.
func arrives(f File) bool {
	head, _, _ := bytes.Cut(f.Patch, []byte("\n@@"))
	return len(f.Patch) == 0 && f.Truncated || bytes.Contains(head, []byte("\nnew file mode "))
}

func docsOnly(files [][]view) bool {
	noDocs := func(v view) bool { return v.kinds&isDocs == 0 }
	return !slices.ContainsFunc(files, func(views []view) bool { return slices.ContainsFunc(views, noDocs) })
}
