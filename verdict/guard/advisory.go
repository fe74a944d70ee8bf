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

// advisory matches the names of vulnerabilities in the databases that audits of dependencies use, and remark what follows
// the mark of a comment.
var (
	advisory = regexp.MustCompile(`\b(?:CVE-\d{4}-\d{4,}|GHSA(?:-[0-9a-z]{4}){3}|RUSTSEC-\d{4}-\d{4}|GO-\d{4}-\d{4}|PYSEC-\d{4}-\d+)\b`)
	remark   = regexp.MustCompile(`(?:^|\s)(?:#|//|;|<!--).*`)
)

// ignored finds vulnerabilities that settings, build files and lists of what a tool ignores name now and did not name: they
// do so to pass over them, in the words of any tool. Files with a hold about it are left out.
func ignored(files []File, found []Finding) (said []Finding) {
	named := func(content []byte) (all []change.Place) {
		n := 0
		for line := range strings.Lines(string(content)) {
			n++
			for _, name := range advisory.FindAllString(remark.ReplaceAllString(line, ""), -1) {
				all = append(all, change.Place{Line: n, After: name})
			}
		}
		return all
	}
	had := sync.OnceValue(func() map[string]bool { // few changes name any
		had := map[string]bool{}
		for _, f := range files {
			for _, p := range named(f.Before) {
				had[p.After] = true
			}
		}
		return had
	})
	for _, f := range files {
		if f.Path == "" || change.IsLock(f.Path) || isOther(f.Path) || !tells(f.Path) ||
			slices.ContainsFunc(found, func(o Finding) bool { return o.Path == f.Path && o.Tier == Hold && advisory.MatchString(o.Why+o.After) }) {
			continue
		}
		for _, p := range named(f.After) {
			if had()[p.After] {
				continue
			}
			p.Path = f.Path
			tier := Hold
			if f.OldPath == "" {
				tier = Evidence // a new audit may come with it
			}
			said = append(said, Finding{Tier: tier, Kind: Strictness, Rule: "audit/ignored",
				Why: fmt.Sprintf("The vulnerability %s is named here now, so an audit may pass over it.", p.After), Place: p})
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
