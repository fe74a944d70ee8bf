package main

import (
	"cmp"
	"embed"
	"encoding/csv"
	"fmt"
	"strings"
)

//go:embed testdata
var testdata embed.FS

// The labels that a person gave to findings, the gravest first.
const (
	isTrue     = "TRUE"     // a maintainer would want to be asked
	isArguable = "ARGUABLE" // the letter of the rule is met, in ordinary work
	isFalse    = "FALSE"    // no change should be held for it
	unlabelled = "unlabelled"

	isLowering = "MISS" // of a commit: it lowers the bar
)

// labels are the labels that people gave to the findings in a set of commits, by repository.
type labels map[string][]label

type label struct{ commit, kind, place, said string }

func (l label) path() string {
	path, _, _ := strings.Cut(l.place, ":")
	return path
}

// table reads a table of testdata, without its header.
func table(name string) ([][]string, error) {
	f, err := testdata.Open("testdata/" + name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rows[1:], nil
}

func readLabels() (labels, error) {
	all := labels{}
	for _, name := range []string{"labels.csv", "texts.csv"} {
		rows, err := table(name)
		if err != nil {
			return all, err
		}
		for _, r := range rows {
			all[r[0]] = append(all[r[0]], label{commit: r[1], kind: r[2], place: r[3], said: r[4]})
		}
	}
	return all, nil
}

// of returns the label of a finding: the label of its line, or else the one that all labels of its kind in
// its file agree on, because a rule may point at another line of the same problem.
func (l labels) of(repo, sha, kind, path string, line int) string {
	said := ""
	for _, one := range l[repo] {
		if !strings.HasPrefix(sha, one.commit) || one.path() != path {
			continue
		}
		if one.place == fmt.Sprintf("%s:%d", path, line) {
			return one.said
		}
		switch {
		case one.kind != kind || said == one.said:
		case said == "":
			said = one.said
		default:
			said = unlabelled
		}
	}
	return cmp.Or(said, unlabelled)
}

// graver returns the label of a change that has findings with both labels.
func graver(a, b string) string {
	for _, l := range []string{isTrue, isArguable, unlabelled, isFalse} {
		if a == l || b == l {
			return l
		}
	}
	return b
}

// missed returns commits in addition to the labelled ones: those whose diffs were read to find what the guard
// had missed, and those whose titles announce a lowering that the diff confirms. The value is the tier that
// the words of the rules give the lowering, if somebody decided that.
func missed() (map[string]string, error) {
	all := map[string]string{}
	for _, name := range []string{"misses.csv", "announced.csv"} {
		rows, err := table(name)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			said := isLowering
			if name == "misses.csv" || r[2] != "" {
				said = r[2]
			}
			all[r[0]+" "+r[1]] = said
		}
	}
	return all, nil
}

// commitsOf returns the commits of one repository among the keys of a table.
func commitsOf(table map[string]string, repo string) (all []string) {
	for key := range table {
		if of, sha, _ := strings.Cut(key, " "); of == repo {
			all = append(all, sha)
		}
	}
	return all
}
