package guard

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/tools"
)

// advisory matches the names of vulnerabilities in the databases that audits of dependencies use, remark what follows
// the mark of a comment, and element a comment of XML, or what only looks as if it had one, in files that elements matches.
var (
	advisory = regexp.MustCompile(`\b(?:CVE-\d{4}-\d{4,}|GHSA(?:-[0-9a-z]{4}){3}|RUSTSEC-\d{4}-\d{4}|GO-\d{4}-\d{4}|PYSEC-\d{4}-\d+)\b`)
	remark   = regexp.MustCompile(`(?:^|\s)(?:#|//|;).*`)
	element  = regexp.MustCompile(`(?s)<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>`)
	elements = regexp.MustCompile(`\.(?:xml|\w+proj|props|targets|ruleset|config)$`)
	// passing matches words by which tools are told to pass over something; .nsprc is a list for that.
	passing = regexp.MustCompile(`(?i)ignor|allow|except|suppress|skip|exclu|permit|accept|affected|waive|whitelist|known|nsprc`)
)

// naming is a vulnerability that a file names. It is told if a word above it, or in the name of the file, says that something is
// passed over.
type naming struct {
	name string
	line int
	told bool
}

// namings returns the vulnerabilities that a file names outside of comments.
func namings(file string, content []byte) (all []naming) {
	if !advisory.Match(content) { // few do
		return nil
	}
	told, n := passing.MatchString(path.Base(file)), 0
	text := string(content)
	if elements.MatchString(file) {
		text = element.ReplaceAllStringFunc(text, func(one string) string {
			if !strings.HasPrefix(one, "<!--") {
				return one
			}
			return strings.Repeat("\n", strings.Count(one, "\n"))
		})
	}
	for line := range strings.Lines(text) {
		n++
		line = remark.ReplaceAllString(line, "")
		told = told || passing.MatchString(line)
		for _, name := range advisory.FindAllString(line, -1) {
			all = append(all, naming{name, n, told})
		}
	}
	return all
}

// ignored finds vulnerabilities that settings, build files and lists of what a tool ignores name now and did not name. It is
// certain if their words say that they pass over them. Files with a hold about it are left out.
func ignored(files []File, found []Finding) (said []Finding) {
	had := sync.OnceValue(func() map[string]bool {
		had := map[string]bool{}
		for _, f := range files {
			for _, v := range namings(f.OldPath, f.Before) {
				had[v.name] = true
			}
		}
		return had
	})
	for _, f := range files {
		if f.Path == "" || change.IsLock(f.Path) || isOther(f.Path) || !tells(f.Path) ||
			slices.ContainsFunc(found, func(o Finding) bool { return o.Path == f.Path && o.Tier == Hold && advisory.MatchString(o.Why+o.After) }) {
			continue
		}
		for _, v := range namings(f.Path, f.After) {
			if had()[v.name] {
				continue
			}
			tier := change.HoldIf(f.OldPath != "" && v.told) // a new audit may come with a new file, or it is a page or a message
			said = append(said, Finding{Tier: tier, Kind: Strictness, Rule: "audit/ignored",
				Why:   fmt.Sprintf("The vulnerability %s is named here now, so an audit may pass over it.", v.name),
				Place: change.Place{Path: f.Path, Line: v.line, After: v.name}})
			break
		}
	}
	return said
}

// tells reports whether a file is for the tools of a repository: one that they read by its name, or a build file or
// settings at its root or in their folders. Others hold data.
func tells(name string) bool {
	return Gates(name) || strings.HasSuffix(path.Base(name), "ignore") || isBuild(name) && tools.ForTools(path.Dir(name))
}
