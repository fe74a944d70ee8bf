package guidelines

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"touchstone/worktree/lazyregexp"
)

// wordDocsOnly is decided last, from the kinds of the files.
const wordDocsOnly = "docs-only"

// changePredicates decide the words about a change as a whole, and say why if one holds.
var changePredicates = map[string]func(Change) (why string, holds bool){
	"all":             func(Change) (string, bool) { return "every change", true },
	"bug-fix":         bugFix,
	"post-review-fix": postReviewFix,
}

func postReviewFix(change Change) (string, bool) {
	return fmt.Sprintf("this is round %d", change.Round), change.Round > 1
}

var (
	// A title may have a ticket, a component or a Conventional Commits scope
	// (https://www.conventionalcommits.org) before "fix", and nothing else: "ABC-12: Fix …", "net/http: fix
	// …", "fix(api)!: …".
	fixTitle = lazyregexp.New(`^(?i:[^\pL\[(]*(?:[\[(][^\])]*[\])][^\pL]*)?(?:[a-z]+-\d+[\s:]+)?(?:([\w./,*-]+)(?:\([^)]*\))?: ` +
		`*)?(?:bug|hot)?fix(?:es|ed)?(?:[^\w-]|$))`)
	// Some titles have the kind of the change in brackets: "[FIXED] …", "[bugfix][api] …".
	fixTag = lazyregexp.New(`^(?i)[\s*]*(?:[\[(][^\])]*[\])]\s*)*?[\[(](?:bug|(?:bug|hot)?[ -]?fix(?:es|ed)?)[\])]`)
	// A title such as "docs: fix a typo" says itself that the change repairs no defect.
	harmlessTypes = []string{"docs", "doc", "style", "chore", "ci", "build", "test", "tests", "refactor", "perf", "feat", "deps"}
	// fixFragment matches a change log fragment whose name marks a fix, in the format of towncrier and
	// similar tools (https://towncrier.readthedocs.io/en/stable/tutorial.html): "changes/12.bugfix.rst".
	fixFragment = fragment(`[^/]+`, `(?:bug|hot)?fix(?:es|ed)?|bug`)
	fixBranch   = lazyregexp.New(`(?i)^(?:[^/]+/)?(?:bug|hot)?fix(?:es)?[-_/]`)
	// recurrenceAction matches the line in which a bug fix says what keeps the defect from recurring;
	// docs/recurrence.md explains its form to authors.
	recurrenceAction = lazyregexp.New(`(?im)^[ \t]*(?:[-*][ \t]+)?(recurrence:[ \t]*(add lint|roll out|add guideline` +
		`|single occurrence)\b[ \t]*\S[^\r\n]*)`)
)

// Recurrence returns what a text declares to keep a defect from recurring: each line unchanged, by its action
// in lower case ("add lint", "roll out", "add guideline", "single occurrence"). Any other text after
// "Recurrence:" declares nothing.
func Recurrence(texts ...string) map[string]string {
	declared := map[string]string{}
	for _, text := range texts {
		for _, m := range recurrenceAction.FindAllStringSubmatch(text, -1) {
			declared[strings.ToLower(m[2])] = strings.TrimSpace(m[1])
		}
	}
	return declared
}

// bugFix trusts what a change says: it calls itself a fix, or declares what keeps a defect from recurring,
// which only a fix has to do.
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

// fragment matches the paths of change log fragments by name and kind.
func fragment(name, kind string) *lazyregexp.Regexp {
	return lazyregexp.New(`(?i)(?:^|/)(?:changes|changelogs?|news|newsfragments|fragments)(?:\.d)?/(?:[^/]+/)*` + name + `\.(?:` + kind +
		`)(?:\.\d+)?(?:\.(?:md|rst|txt))?$`)
}

// arrives reports whether a change adds a file, or may: a file whose patch was left out counts as added.
func arrives(f File) bool {
	head, _, _ := bytes.Cut(f.Patch, []byte("\n@@"))
	return len(f.Patch) == 0 && f.Truncated || bytes.Contains(head, []byte("\nnew file mode "))
}

func docsOnly(files [][]view) bool {
	noDocs := func(v view) bool { return v.kinds&isDocs == 0 }
	return !slices.ContainsFunc(files, func(views []view) bool { return slices.ContainsFunc(views, noDocs) })
}
