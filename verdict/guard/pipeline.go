package guard

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// isPipeline reports whether a file of this name decides what CI runs.
func isPipeline(name string) bool {
	return isWorkflow(name) || matches(name, "Makefile", "makefile", "GNUmakefile", "*.mk", "justfile", "Justfile", "Taskfile.yml", "Taskfile.yaml",
		"package.json", "tox.ini", "noxfile.py", "Rakefile", "magefile.go", "build.gradle", "build.gradle.kts", "spec_helper.rb", "test_helper.rb", ".simplecov",
		".npmrc", ".yarnrc", ".yarnrc.yml", ".ci/**", "ci/**", ".husky/**", "lefthook.yml", ".lefthook.yml", "lefthook.yaml", "**/scripts/*.sh", "**/bin/*.sh", "**/ci/*.sh", "**/hack/*.sh")
}

// isWorkflow reports whether a file is a CI system's own.
func isWorkflow(name string) bool {
	return matches(name, ".github/workflows/*.yml", ".github/workflows/*.yaml", ".github/actions/**", ".gitlab-ci.yml", ".gitlab/ci/*", "*.gitlab-ci.yml", ".circleci/*", "azure-pipelines*.yml", "azure-pipelines*.yaml",
		".azure-pipelines/*", ".azure/*", ".buildkite/**", "Jenkinsfile", "Jenkinsfile.*", "*.jenkinsfile", ".travis.yml", "bitbucket-pipelines.yml", ".drone.yml", ".woodpecker.yml", ".cirrus.yml", ".teamcity/**", "appveyor.yml", "cloudbuild.yaml")
}

// scriptLines are the lines of a pipeline file that may run something. Of a
// package.json they are its scripts.
func scriptLines(s side) []claim {
	if s.path == "" || !isPipeline(s.path) {
		return nil
	}
	var out []claim
	if s.base() == "package.json" {
		for _, one := range settings(s) {
			if one.key[0] == "scripts" || one.key[0] == "husky" {
				out = append(out, claim{one.value, one.line})
			}
		}
		return out
	}
	inert := make([]bool, len(s.lines))
	if blocks.MatchString(s.path) {
		inert = commented(s)
	}
	continued := false
	for i := range s.lines {
		text := s.at(i + 1)
		if text == "" || inert[i] || after(s, i) || strings.HasPrefix(text, "#") && !strings.HasPrefix(text, "#!") || strings.HasPrefix(text, "//") {
			continue
		}
		if !strings.HasSuffix(s.base(), ".rb") {
			text = uncomment(text)
		}
		if s.base() == "tox.ini" {
			text = toxCommand.ReplaceAllString(text, "$1")
		}
		before := continued
		text, continued = strings.CutSuffix(text, "\\")
		if last := len(out) - 1; before && last >= 0 && len(out[last].text) < maxLine {
			out[last].text += " " + text
			continue
		}
		out = append(out, claim{text, i + 1})
	}
	return expand(s, out)
}

// toxCommand is the beginning of a command of tox. A dash before one says that its
// failure is ignored. See https://tox.wiki/en/latest/config.html#commands
var toxCommand = regexp.MustCompile(`^(?:commands\w*\s*=\s*)?(-?)\s*`)

// after reports whether a line belongs to what GitLab runs after a job, whose failures
// it ignores. See https://docs.gitlab.com/ci/yaml/#after_script
func after(s side, i int) bool {
	if !matches(s.path, "*.gitlab-ci.yml", ".gitlab/ci/*") || !isItem(strings.TrimSpace(s.lines[i])) {
		return false
	}
	for i--; i >= 0 && isItem(strings.TrimSpace(s.lines[i])); i-- {
	}
	return i >= 0 && strings.HasPrefix(strings.TrimSpace(s.lines[i]), "after_script:")
}

// maxLine bounds the lines of a script that are put together, in bytes.
const maxLine = 2000

// blocks are pipelines in languages with comments of several lines.
var blocks = regexp.MustCompile(`(?i)jenkinsfile|\.gradle(?:\.kts)?$|\.go$|\.kts?$|\.groovy$`)

// pipelines finds checks that no longer run or no longer can fail.
func pipelines(p *patch) []Hit {
	before, after := map[*file][]claim{}, map[*file][]claim{}
	for _, f := range p.files {
		before[f], after[f] = scriptLines(f.old), scriptLines(f.new)
	}
	hits := slices.Concat(lostChecks(p, before, after), jobsCompared(p), variants(p, before, after))
	for _, f := range p.files {
		if f.new.text == f.old.text && f.new.path == f.old.path {
			continue
		}
		hits = append(hits, steered(f, before[f], after[f])...)
		hits = append(hits, matrices(f, before[f], after[f])...)
		hits = append(hits, softened(f, before[f], after[f])...)
		hits = append(hits, loweredFlags(f, before[f], after[f])...)
		if !f.added() && !f.deleted() {
			hits = append(hits, unreached(f, before[f], after[f])...)
			hits = append(hits, emptied(f)...)
			hits = append(hits, caught(f, before[f], after[f])...)
		}
		if isWorkflow(f.path()) && !f.added() && !f.deleted() {
			hits = append(hits, conditions(f)...)
			hits = append(hits, otherConditions(f)...)
			hits = append(hits, idleJobs(f)...)
			hits = append(hits, halted(f)...)
		}
	}
	return hits
}

// lostChecks finds commands that are gone and that nothing of the same purpose
// replaces, here or in another pipeline file.
func lostChecks(p *patch, before, after map[*file][]claim) []Hit {
	type place struct {
		f *file
		c command
	}
	var gone []place
	var gained []place
	stands := func(g, c command) bool { return replaces(g, c) || renamedTarget(p, before, after, g, c) }
	for _, f := range p.files {
		was, is := commands(before[f]), commands(after[f])
		gone2, gained2 := unmatched(was, is), unmatched(is, was)
		for _, c := range gone2 {
			parts := len(gained2) > len(gone2) // which may make up the whole
			i := slices.IndexFunc(gained2, func(g command) bool { return stands(g, c) && (parts || !lesser(g, c)) })
			if i < 0 {
				gone = append(gone, place{f, c})
			} else if gained2[i].purpose != "all" {
				gained2 = slices.Delete(gained2, i, i+1)
			}
		}
		for _, g := range gained2 {
			gained = append(gained, place{f, g})
		}
	}
	var hits []Hit
	for _, l := range gone {
		if i := slices.IndexFunc(gained, func(g place) bool {
			return stands(g.c, l.c) && !lesser(g.c, l.c) && (!isWorkflow(l.f.old.path) || called(p, l.f, g.f))
		}); i >= 0 {
			if gained[i].c.purpose != "all" {
				gained = slices.Delete(gained, i, i+1)
			}
			continue
		}
		hits = append(hits, Hit{CI, l.f.path(), l.c.line, l.f.old.at(l.c.line), "", "The check " + l.c.key + " no longer runs here."})
		if l.f.deleted() {
			break
		}
	}
	return hits
}

// runners are the words that run what stands in a file of a name.
var runners = map[string]string{
	"Makefile": "make", "makefile": "make", "GNUmakefile": "make", "justfile": "just", "Justfile": "just", "Taskfile.yml": "task", "Taskfile.yaml": "task",
	"package.json": "npm|yarn|pnpm|bun", "tox.ini": "tox", "noxfile.py": "nox", "Rakefile": "rake", "magefile.go": "mage", "build.gradle": "gradle", "build.gradle.kts": "gradle",
}

// called reports whether CI runs what a file says when it ran what another one said:
// the file is its own and started by one of the same events, or one of its own files
// in the change runs it.
func called(p *patch, from, f *file) bool {
	names := strings.Split(cmp.Or(runners[f.new.base()], f.new.base()), "|")
	if matches(f.new.path, ".github/workflows/*") && matches(from.old.path, ".github/workflows/*") {
		now := triggers(f.new)
		if slices.ContainsFunc(triggers(from.old), func(o claim) bool {
			return slices.ContainsFunc(now, func(n claim) bool { return n.text == o.text })
		}) {
			return true
		}
	} else if isWorkflow(f.new.path) {
		return true
	}
	return slices.ContainsFunc(p.files, func(w *file) bool {
		return w != f && isWorkflow(w.new.path) && slices.ContainsFunc(scriptLines(w.new), func(c claim) bool {
			return slices.ContainsFunc(names, func(n string) bool { return strings.Contains(c.text, n) })
		})
	})
}

// replaces reports whether a check does what another one did. What a script did is
// not known.
func replaces(g, c command) bool {
	return g.purpose == c.purpose || g.purpose == "all" || c.purpose == "script"
}

var (
	checking = regexp.MustCompile(`^(?:pre|post)?(?:test|lint|check|typecheck|type-check|types|verify|ci|validate|coverage|audit|format:check)(?:[:-].*)?$`)
	doing    = regexp.MustCompile(`^(?:echo\b[^&;|]*|true|:|exit(?: 0)?|node -e .{0,20})$`)
)

// emptied finds scripts of a package.json that are named like a check, did something
// of which it is not known what, and do nothing now.
func emptied(f *file) []Hit {
	if f.old.base() != "package.json" || f.new.base() != "package.json" {
		return nil
	}
	did := map[string]string{}
	for _, one := range settings(f.old) {
		if one.key[0] == "scripts" && !doing.MatchString(one.value) && len(commands([]claim{{one.value, one.line}})) == 0 {
			did[one.key[len(one.key)-1]] = one.value
		}
	}
	for _, one := range settings(f.new) {
		name := one.key[len(one.key)-1]
		if one.key[0] == "scripts" && checking.MatchString(name) && did[name] != "" && doing.MatchString(one.value) {
			return []Hit{{CI, f.path(), one.line, did[name], f.new.at(one.line), "The script " + name + " does nothing any more."}}
		}
	}
	return nil
}

// unmatched lists the commands of a that b does not have as often.
func unmatched(a, b []command) []command {
	count := map[string]int{}
	for _, c := range b {
		count[c.key]++
	}
	var out []command
	for _, c := range a {
		if count[c.key] > 0 {
			count[c.key]--
			continue
		}
		out = append(out, c)
	}
	return out
}

// softened finds lenient options and tricks that are new, and strict options
// that are gone from a check that still runs.
func softened(f *file, before, after []claim) []Hit {
	if f.added() || f.deleted() {
		return nil
	}
	var hits []Hit
	for _, pattern := range lenient {
		hits = append(hits, newLenience(f, pattern, before, after)...)
	}
	was, is := byKey(commands(before)), byKey(commands(after))
	earlier, later := newScript(f.old, before), newScript(f.new, after)
	for key, list := range was {
		if len(is[key]) < len(list) {
			continue
		}
		hits = append(hits, restrained(f, list, is[key], earlier, later)...)
		hits = append(hits, narrowed(f, list, is[key])...)
		hits = append(hits, eases(f, list, is[key])...)
		for i, c := range list {
			for _, m := range demanding.FindAllStringSubmatch(c.text, -1) {
				if m[1] == "./..." && strings.HasPrefix(key, "golangci-lint") {
					continue // it lints all of them when none is named
				}
				if !slices.ContainsFunc(is[key], func(n command) bool { return strings.Contains(n.text, m[1]) }) {
					hits = append(hits, Hit{CI, f.path(), is[key][i].line, f.old.at(c.line), f.new.at(is[key][i].line), "The check runs without " + m[1] + "."})
				}
			}
		}
	}
	return append(hits, unguarded(f, earlier, later)...)
}

func byKey(list []command) map[string][]command {
	out := map[string][]command{}
	for _, c := range list {
		out[c.key] = append(out[c.key], c)
	}
	return out
}

func newLenience(f *file, pattern *regexp.Regexp, before, after []claim) []Hit {
	had := map[string]int{}
	for _, l := range before {
		if pattern.MatchString(l.text) {
			had[trick(pattern, l.text)]++
		}
	}
	var hits []Hit
	for _, l := range after {
		if !pattern.MatchString(l.text) || harmless.MatchString(l.text) {
			continue
		}
		if len(hits) > MaxHits {
			break
		}
		if key := trick(pattern, l.text); had[key] > 0 {
			had[key]--
			continue
		}
		if isWorkflow(f.new.path) && newJob(f, l.line) {
			continue
		}
		hits = append(hits, Hit{CI, f.path(), l.line, counterpartText(l, before), f.new.at(l.line), "What fails here no longer fails the change."})
	}
	return hits
}

// harmless lines run nothing that checks: cleaning up and preparing may fail.
var harmless = regexp.MustCompile(`^-?@?(?:- )?(?:run: )?(?:rm|mkdir|docker (?:rm|stop|kill|compose down)|kill|pkill|git (?:fetch|config|tag -d|branch -D|remote)|createdb|dropdb|brew|helm uninstall|kubectl delete|which|command -v|apt-get|pip3? install|chmod|ln|cp|echo)\b|\bfail-on-cache`)

func trick(pattern *regexp.Regexp, text string) string {
	return strings.Join(strings.Fields(pattern.FindString(text)), " ")
}

// counterpartText is the line of before that one of after was made from, or "".
func counterpartText(l claim, before []claim) string {
	c, ok := counterpart(l, before)
	if !ok || share(tokens([]string{c.text}), tokens([]string{l.text})) < alike {
		return ""
	}
	return c.text
}

// loweredFlags finds thresholds among options and variables that are easier to
// meet.
func loweredFlags(f *file, before, after []claim) []Hit {
	if f.deleted() {
		return nil
	}
	now := map[string][]claim{}
	for _, l := range after {
		for _, m := range limitFlag.FindAllStringSubmatch(l.text, -1) {
			now[m[1]] = append(now[m[1]], claim{m[3], l.line})
		}
	}
	var hits []Hit
	seen := map[string]int{}
	for _, l := range before {
		for _, m := range limitFlag.FindAllStringSubmatch(l.text, -1) {
			n := seen[m[1]]
			seen[m[1]]++
			if n >= len(now[m[1]]) {
				if len(now[m[1]]) == 0 {
					hits = append(hits, Hit{Threshold, f.path(), l.line, l.text, "", m[1] + " is gone."})
				}
				continue
			}
			was, _ := number(m[3])
			is, _ := number(now[m[1]][n].text)
			if up := ceiling.MatchString(m[1]); up && is > was || !up && is < was {
				line := now[m[1]][n].line
				hits = append(hits, Hit{Threshold, f.path(), line, l.text, f.new.at(line), fmt.Sprintf("%s turns from %s to %s.", m[1], m[3], now[m[1]][n].text)})
			}
		}
	}
	return hits
}
