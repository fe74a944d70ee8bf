package code

import (
	"bytes"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
)

// snapshots are how the names of such files end.
var snapshots = []string{".snap", ".ambr", ".approved.txt", ".verified.txt"}

// isSnapshot reports whether a file holds what tests are compared with.
func isSnapshot(name string) bool {
	return slices.ContainsFunc(snapshots, func(end string) bool { return strings.HasSuffix(name, end) })
}

// minSnapshot is from how many lines on a rewritten snapshot is said.
const minSnapshot = 6

// compareSnapshot finds snapshots of which little is left.
func (x *examination) compareSnapshot(f change.File) {
	if !isSnapshot(f.OldPath) || f.Path == "" || bytes.Equal(f.Before, f.After) {
		return
	}
	has := map[string]int{}
	for line := range bytes.Lines(f.After) {
		has[string(bytes.TrimSpace(line))]++
	}
	all, kept, n := 0, 0, 0
	first := change.Place{Path: f.Path}
	for line := range bytes.Lines(f.Before) {
		n++
		t := string(bytes.TrimSpace(line))
		if len(t) < 3 {
			continue
		}
		all++
		if has[t] > 0 {
			has[t]--
			kept++
		} else if first.Line == 0 {
			first.Line, first.Before = n, strings.ToValidUTF8(t[:min(len(t), maxText)], "")
		}
	}
	if all >= minSnapshot && kept*4 < all {
		x.findings = append(x.findings, change.Finding{Tier: change.Evidence, Kind: change.Assertion, Rule: "assertion/snapshot-rewritten",
			Why: "Most of what the tests are compared with is rewritten.", Place: first})
	}
}
