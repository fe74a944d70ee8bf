package guard

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/ci"
	"touchstone/verdict/guard/code"
	"touchstone/verdict/guard/words"
)

// announced is a hold where a change's title says that it leaves out a check, and something in it is evidence for that:
// then the two are certain together. Neither the words alone hold a change, nor what is only suspected, nor what the
// messages of commits say: in the histories on which this was measured, a later commit often undid what they announced.
func announced(title string, files []File, found []Finding) (holds []Finding) {
	s := prefix.ReplaceAllString(title, "")
	says, ok := read(s)
	if !ok { // "Skip tests:" is no part of a project
		s = title
		says, ok = read(s)
	}
	if !ok || feature.MatchString(title) || slices.ContainsFunc(found, func(f Finding) bool { return f.Tier == Hold && f.Kind == says.kind }) {
		return nil
	}
	i := slices.IndexFunc(found, func(f Finding) bool {
		return f.Tier == Evidence && shows(f, says.kind) && (!says.gone || loses(f)) && (!says.named || names(f, says.object)) &&
			(!says.any || checksHere(f)) && (f.Kind != CI || !publishes(files, f.Path))
	})
	if i < 0 {
		return nil // a suppression in one place is evidence, whatever the change says
	}
	named := slices.IndexFunc(found, func(f Finding) bool {
		return f.Tier == Evidence && (f.Kind == says.kind || says.kind == Strictness && f.Kind == Suppression) &&
			says.object != "" && names(f, says.object)
	})
	if named >= 0 {
		i = named
	}
	return []Finding{{Tier: Hold, Kind: says.kind, Rule: "announced/off", Place: found[i].Place,
		Why: "The title says that the change leaves out a check (“" + clip(s) + "”), and this place shows it."}}
}

// publishes reports whether a file was a pipeline that decides about no change, one of a service that another one has replaced, or a
// script that is gone and that no other file of the change names which is left, nor with a wildcard or a variable in place of its
// name: what else ran it changes, too, or fails.
func publishes(files []File, name string) bool {
	return slices.ContainsFunc(files, func(f File) bool {
		if f.Name() != name || f.Path != "" || path.Ext(name) != ".sh" {
			return f.Name() == name && ci.Is(f.OldPath) && (retired(files, f) || !gates(f.OldPath, f.Before))
		}
		dir, base := path.Split(strings.ToValidUTF8(name, "\uFFFD")) // as patterns read other bytes
		runs := regexp.MustCompile(regexp.QuoteMeta(base) + "|" + regexp.QuoteMeta(dir) + `[\w.-]*[*$].*\.sh`)
		return !slices.ContainsFunc(files, func(o File) bool { return o.Path != "" && runs.Match(o.Before) })
	})
}

// retired reports whether a file was the last pipeline of a service other than GitHub Actions, and a pipeline of another service is
// left that decides about changes: that has often taken over by then what it did.
func retired(files []File, gone File) bool {
	top, _, _ := strings.Cut(gone.OldPath, "/")
	if gone.Path != "" || top == ".github" {
		return false
	}
	left := false
	for _, f := range files {
		if dir, _, _ := strings.Cut(f.Path, "/"); f.Path != "" && ci.Is(f.Path) {
			if dir == top {
				return false
			}
			left = left || gates(f.Path, f.After)
		}
	}
	return left
}

// checksHere reports whether a finding is of a place where something is checked.
func checksHere(f Finding) bool {
	return f.Kind == CI || f.Rule != "words/changed" || words.Checks(path.Base(f.Path)) || words.Checks(f.Before+"\n"+f.After)
}

// loses reports whether evidence is that a check is gone.
func loses(f Finding) bool {
	return Loses(f) || slices.Contains([]string{"assertion/fewer", "ci/check-gone", "ci/job-gone"}, f.Rule)
}

// names reports whether the lines of a finding, or its file, have a name that begins or ends there as a word does.
func names(f Finding, name string) bool {
	name = regexp.QuoteMeta(name)
	return regexp.MustCompile(`\b` + name + `|` + name + `\b`).MatchString(strings.ToLower(f.Path + "\n" + f.Before + "\n" + f.After))
}

// shows reports whether evidence can be what such a sentence says of checks of a kind.
func shows(f Finding, kind Kind) bool {
	switch kind {
	case Test:
		return f.Kind != Unexamined && f.Kind != Policy && f.Rule != code.GoneWithCode
	case CI:
		return f.Kind == CI
	}
	return f.Kind == kind || f.Kind == CI || f.Kind == Test && Loses(f) || strings.HasPrefix(f.Rule, "words/")
}
