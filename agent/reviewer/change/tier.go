package change

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"

	"touchstone/agent/outline"
	"touchstone/verdict"
	"touchstone/worktree/diff"
	"touchstone/worktree/lazyregexp"
)

// The limits of the tiers.
const (
	trivialLines = 10
	liteLines    = 100
	fewFiles     = 20
)

// alwaysSensitive are files that decide what runs, what is trusted, what is stored, and what agents are told.
var alwaysSensitive = scope("ci, migration, dependencies, .touchstone/**, **/CODEOWNERS, **/Dockerfile*, **/AGENTS.md, **/CLAUDE.md")

// sensitiveWords are words in the names of code on which secrets, identities, rights or money depend.
var sensitiveWords = strings.Fields(`auth authn authz authentication authorization authorisation oauth oauth2 oidc saml sso ldap jwt
		login signin signup logout password passwords passwd credential credentials secret secrets token tokens session sessions mfa totp
		crypto cryptography cipher encrypt encryption decrypt decryption signature signing tls ssl x509 cert certs certificate certificates
		keystore
		permission permissions acl rbac iam sudo csrf cors csp security sandbox sanitize sanitizer
		payment payments billing invoice invoices charge charges refund refunds payout payouts checkout`)

// weigh decides the tier. Files that are left out count by their kind, such as a lock file, and not by their
// lines.
func weigh(s Source, c Change, checkout *os.Root) (Tier, string) {
	binary := false
	for _, f := range s.Diff.Files {
		binary = binary || f.Binary
		if word := sensitiveWord(f.Path); word != "" {
			return Full, fmt.Sprintf("%s has %q in its name", Spell(f.Path), word)
		}
		if f.Submodule {
			return Full, Spell(f.Path) + " is a submodule"
		}
	}
	change := asChange(s.Diff.Files...)
	if applies, why := alwaysSensitive.Applies(change); applies {
		return Full, "sensitive: " + why
	}
	if applies, why := s.Sensitive.Applies(change); applies {
		return Full, "sensitive by the repository's configuration: " + why
	}
	why := verdict.Amount(c.Lines, "line", "lines") + " in " + verdict.Amount(len(c.Files), "file", "files")
	tier := Full
	switch {
	case len(c.Files) > fewFiles:
	case !binary && onlyTells(c, checkout): // a file without lines is not a small one
		if tier = Lite; c.Lines <= liteLines {
			tier = Trivial
		}
		return tier, why + ", all of it documents or comments"
	case c.Lines <= trivialLines && !binary:
		tier = Trivial
	case c.Lines <= liteLines:
		tier = Lite
	}
	if tier == Full {
		return tier, why // there is no tier above it
	}
	for _, f := range c.Files {
		compared := compareCode(f.File, checkout)
		if compared.hides {
			return Full, Spell(f.Path) + " turns code into a comment or a text, or the reverse"
		}
		if tier == Trivial && !compared.known && outline.Knows(f.Path) && about(product, f.File) {
			tier, why = Lite, Spell(f.Path)+" is code of which it cannot be told what is a comment"
		}
		if tier == Trivial && changesMode(f.File) {
			tier, why = Lite, Spell(f.Path)+" becomes a link, or executable, or no longer"
		}
		if what, least := touches(f.File, compared); rank[least] > rank[tier] {
			tier, why = least, fmt.Sprintf("%s touches %s", Spell(f.Path), what)
		}
	}
	if name, what, least := published(c.Files, checkout); rank[least] > rank[tier] {
		tier, why = least, fmt.Sprintf("%s touches %s", Spell(name), what)
	}
	return tier, why
}

// changesMode reports whether a file becomes a link, or executable, or is none any more.
func changesMode(f diff.File) bool {
	return f.Status != "deleted" && (f.OldMode != f.NewMode && f.Status != "added" || f.NewMode == "120000")
}

// rank orders the tiers.
var rank = map[Tier]int{Trivial: 0, Lite: 1, Full: 2}

// sensitiveWord returns the first sensitive word in a path: a part between separators, or a part that begins
// with a capital, as in LoginPage or JWTVerifier.
func sensitiveWord(path string) string {
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if word := strings.ToLower(part); slices.Contains(sensitiveWords, word) {
			return word
		}
		runes := []rune(part)
		start := 0
		for i := 1; i <= len(runes); i++ {
			begins := i < len(runes) && unicode.IsUpper(runes[i]) &&
				(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
			if !begins && i < len(runes) {
				continue
			}
			if word := strings.ToLower(string(runes[start:i])); slices.Contains(sensitiveWords, word) {
				return word
			}
			start = i
		}
	}
	return ""
}

// pointer matches the first line of the pointer file that Git LFS keeps in a file's place
// (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md).
var pointer = lazyregexp.New(`(?m)^[-+ ]version https://git-lfs\.github\.com/spec/`)

// note says what a file's lines do not show.
func note(f diff.File) string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	switch {
	case f.Submodule:
		from, to := submodule(f.Patch)
		add("a submodule, from %s to %s; its content is not here", from, to)
	case pointer.Match(f.Patch):
		add("kept in Git LFS: its lines are a pointer, its content is not here")
	case f.Binary:
		add("binary, there are no lines to read")
	}
	kind := func(mode string) string {
		return map[string]string{"120000": "a symbolic link", "160000": "a submodule", "100755": "executable", "100644": "a plain file"}[mode]
	}
	switch from, to := kind(f.OldMode), kind(f.NewMode); {
	case from != "" && to != "" && from != to:
		add("was %s and is %s now", from, to)
	case to == "a symbolic link", to == "executable" && from == "":
		add("it is %s", to)
	}
	if f.NewMode == "120000" && leaves(f) {
		add("it points out of the repository")
	}
	if f.Truncated {
		add("longer than can be shown: its diff is cut")
	}
	return strings.Join(notes, "; ")
}
