package guidelines

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
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
	fixTitle = regexp.MustCompile(`^(?i:[^\pL\[(]*(?:[\[(][^\])]*[\])][^\pL]*)?(?:[a-z]+-\d+[\s:]+)?(?:([\w./,*-]+)(?:\([^)]*\))?: *)?(?:bug|hot)?fix(?:es|ed)?(?:[^\w-]|$))`)
	// "docs: fix a typo" says itself that it repairs no defect.
	harmlessTypes = []string{"docs", "doc", "style", "chore", "ci", "build", "test", "tests", "refactor", "perf", "feat", "deps"}
	fixBranch     = regexp.MustCompile(`(?i)^(?:[^/]+/)?(?:bug|hot)?fix(?:es)?[-_/]`)
	recurrence    = regexp.MustCompile(`(?im)^[ \t]*recurrence:[ \t]*\S`)
)

// bugFix takes a change at its word: it calls itself a fix, or it declares what
// keeps a defect from coming back, which only a fix has to.
func bugFix(change Change) (string, bool) {
	isBug := func(label string) bool { return strings.EqualFold(label, "bug") }
	title := fixTitle.FindStringSubmatch(change.Title)
	switch {
	case title != nil && !slices.Contains(harmlessTypes, strings.ToLower(title[1])):
		return "the title says fix", true
	case fixBranch.MatchString(change.Branch):
		return "the branch is named fix", true
	case slices.ContainsFunc(change.Labels, isBug):
		return "it has the label bug", true
	case recurrence.MatchString(change.Body), slices.ContainsFunc(change.Commits, recurrence.MatchString):
		return "it declares a recurrence action", true
	}
	return "", false
}

func docsOnly(files [][]view) bool {
	noDocs := func(v view) bool { return v.kinds&isDocs == 0 }
	return !slices.ContainsFunc(files, func(views []view) bool { return slices.ContainsFunc(views, noDocs) })
}
