package guard

import (
	"regexp"
	"slices"
	"strings"
)

var (
	tagOption  = regexp.MustCompile(`-tags[= ]["']?([\w,]+)|--features[= ]["']?([\w,-]+)|--cfg[= ]["']?(\w+)`)
	buildLine  = regexp.MustCompile(`^(?://go:build |// \+build |#!?\[cfg\()`)
	eachOption = regexp.MustCompile(`[\w-]+`)
)

// variants finds code that is built otherwise for the checks than for everybody else:
// by an option that is new in a pipeline, and that the code excludes itself by.
func variants(p *patch, before, after map[*file][]claim) []Hit {
	options := func(lines map[*file][]claim) map[string]bool {
		out := map[string]bool{}
		for _, list := range lines {
			for _, l := range list {
				for _, m := range tagOption.FindAllStringSubmatch(l.text, -1) {
					for _, name := range eachOption.FindAllString(firstOf(m[1:]), -1) {
						out[name] = true
					}
				}
			}
		}
		return out
	}
	was, is := options(before), options(after)
	var hits []Hit
	for name := range is {
		if was[name] {
			continue
		}
		without := regexp.MustCompile(`!\s*` + regexp.QuoteMeta(name) + `\b|not\((?:feature = )?"?` + regexp.QuoteMeta(name) + `\b`)
		for _, f := range p.files {
			if lang := languageOf(f.new.path); f.old.path == "" || lang != golang && lang != rust || lang == golang && isTest(f.new.path) {
				continue
			}
			at := slices.IndexFunc(f.new.lines, func(l string) bool {
				return buildLine.MatchString(strings.TrimSpace(l)) && without.MatchString(l) && !slices.Contains(f.old.lines, l)
			})
			if at >= 0 {
				hits = append(hits, Hit{CI, f.path(), at + 1, "", f.new.at(at + 1), "The checks come to run on other code than this, by the option " + name + "."})
			}
		}
	}
	return hits
}

var (
	// mereInputs say where and by what a called workflow runs, not what it checks.
	mereInputs = regexp.MustCompile(`(?i)version|cache|runs?-?on|runner|timeout|image|artifact|name|^(?:node|go|python|java|rust|ruby|dotnet)$`)
	// delivering are called workflows that are run for what they make.
	delivering = regexp.MustCompile(`(?i)deploy|release|publish|docs|pages|notify|label|stale|docker|image|package|upload`)
)

// inputs finds jobs that call the workflow that they called, with other inputs: what
// they check may be less.
func inputs(f *file, was, is []*job) []Hit {
	var hits []Hit
	for _, o := range was {
		at := slices.IndexFunc(is, func(n *job) bool { return n.id == o.id })
		if at < 0 || !o.delegates() || !is[at].delegates() || delivering.MatchString(o.id+o.own["uses"].value) {
			continue
		}
		n := is[at]
		for _, key := range differing(o.own, n.own) {
			from, to := o.own[key], n.own[key]
			line := to.line
			if to.value == "" {
				line = from.line
			}
			hits = append(hits, Hit{CI, f.path(), line, f.old.at(from.line), f.new.at(to.line), "The workflow that checks is called with another input than before."})
		}
	}
	return hits
}

// differing are the inputs that say what a called workflow does and have changed.
func differing(was, is map[string]setting) []string {
	var out []string
	for _, list := range []map[string]setting{was, is} {
		for key := range list {
			name, input := strings.CutPrefix(key, "with.")
			if input && was[key].value != is[key].value && !mereInputs.MatchString(name) && !slices.Contains(out, key) {
				out = append(out, key)
			}
		}
	}
	return out
}

var makeCall = regexp.MustCompile(`^(?:make|just) (\S+)$`)

// renamedTarget reports whether a check runs by another target's name what the other
// one ran, as the change's own makefiles say.
func renamedTarget(p *patch, before, after map[*file][]claim, now, was command) bool {
	n, o := makeCall.FindStringSubmatch(now.key), makeCall.FindStringSubmatch(was.key)
	return n != nil && o != nil && slices.ContainsFunc(p.files, func(f *file) bool {
		old := leadsTo(makeTargets(f.old, before[f]), o[1], map[string]bool{})
		return len(old) > 0 && len(unmatched(old, leadsTo(makeTargets(f.new, after[f]), n[1], map[string]bool{}))) == 0
	})
}
