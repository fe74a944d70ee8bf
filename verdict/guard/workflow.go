package guard

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// filterKeys are what narrows the event that starts a GitHub workflow. See
	// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#onpushpull_requestpull_request_targetpathspaths-ignore
	filterKeys = regexp.MustCompile(`^(?:on|true)\.(pull_request|pull_request_target|push|merge_group)\.(paths|branches|types|paths-ignore|branches-ignore)(?:\.\[\])?$`)
	// always are conditions that do not keep a step from running when a pull
	// request is checked. They count only as the whole of a condition.
	always = regexp.MustCompile(`^["']?(?:\$\{\{)?\s*(?:always\(\)|!\s*cancelled\(\)|success\(\) \|\| failure\(\)|failure\(\) \|\| success\(\)|success\(\)|true|(?:github\.event_name != 'pull_request' \|\| )?(?:!github\.event\.pull_request\.draft|github\.event\.pull_request\.draft == false))\s*(?:\}\})?["']?$`)
)

// conditions finds triggers of GitHub workflows that are gone or narrowed, and
// jobs and steps with checks that became conditional or that none waits for.
func conditions(f *file) []Hit {
	if !matches(f.path(), ".github/workflows/*") {
		return nil
	}
	var hits []Hit
	if old, now := triggers(f.old), triggers(f.new); len(old) > 0 && len(now) > 0 {
		for _, o := range old {
			if !slices.ContainsFunc(now, func(n claim) bool { return n.text == o.text }) {
				hits = append(hits, Hit{CI, f.path(), o.line, f.old.at(o.line), "", "The workflow is no longer started by " + o.text + "."})
			}
		}
	}
	had := map[string]bool{}
	for _, w := range settings(f.old) {
		had[strings.Join(w.key, ".")+"\x00"+w.value] = true
	}
	for _, one := range settings(f.new) {
		key := strings.Join(one.key, ".")
		conditional := strings.HasPrefix(key, "jobs.") && one.key[len(one.key)-1] == "if" && !always.MatchString(one.value) && guardsCheck(f.new, one.line)
		if conditional && !had[key+"\x00"+one.value] {
			hits = append(hits, Hit{CI, f.path(), one.line, "", f.new.at(one.line), "The check is made conditional."})
		}
	}
	return slices.Concat(hits, narrowedTriggers(f), unneeded(f))
}

// filters are the values of each filter of each event, by "event.filter".
func filters(s side) map[string][]claim {
	out := map[string][]claim{}
	for _, one := range settings(s) {
		if m := filterKeys.FindStringSubmatch(strings.Join(one.key, ".")); m != nil {
			id := m[1] + "." + m[2]
			out[id] = append(out[id], claim{one.value, one.line})
		}
	}
	return out
}

// narrowedTriggers finds filters that let a workflow run for fewer changes. A
// push may be narrowed where pull requests start the workflow as well.
func narrowedTriggers(f *file) []Hit {
	was, is := filters(f.old), filters(f.new)
	requested := slices.ContainsFunc(triggers(f.new), func(c claim) bool { return strings.HasPrefix(c.text, "pull_request") })
	before := map[string]bool{}
	for _, t := range triggers(f.old) {
		before[t.text] = true
	}
	var hits []Hit
	hit := func(line int, from, to string) {
		hits = append(hits, Hit{CI, f.path(), line, from, to, "The workflow runs for fewer changes than it did."})
	}
	for id, now := range is {
		event, filter, _ := strings.Cut(id, ".")
		if !before[event] || event == "push" && requested {
			continue
		}
		old := was[id]
		switch {
		case max(len(old), len(now)) > maxPolicy:
			hit(now[0].line, "", f.new.at(now[0].line))
		case strings.HasSuffix(filter, "-ignore"):
			for _, n := range now {
				if !slices.ContainsFunc(old, func(o claim) bool { return o.text == n.text }) {
					hit(n.line, "", f.new.at(n.line))
				}
			}
		case slices.ContainsFunc(now, func(n claim) bool { return n.text == "**" }):
		case len(old) == 0 && filter == "types":
			if !slices.ContainsFunc(now, func(n claim) bool { return n.text == "synchronize" }) && event != "merge_group" {
				hit(now[0].line, "", f.new.at(now[0].line))
			}
		case len(old) == 0:
			hit(now[0].line, "", f.new.at(now[0].line))
		default:
			gone := slices.IndexFunc(old, func(o claim) bool {
				return !strings.HasPrefix(o.text, "!") && !slices.ContainsFunc(now, func(n claim) bool { return n.text == o.text })
			})
			negation := slices.IndexFunc(now, func(n claim) bool {
				return strings.HasPrefix(n.text, "!") && !slices.ContainsFunc(old, func(o claim) bool { return o.text == n.text })
			})
			switch {
			case gone >= 0:
				hit(now[0].line, f.old.at(old[gone].line), f.new.at(now[0].line))
			case negation >= 0:
				hit(now[negation].line, "", f.new.at(now[negation].line))
			}
		}
	}
	return hits
}

// unneeded finds jobs that check nothing themselves, such as a gate or a release,
// and no longer wait for a job that does.
func unneeded(f *file) []Hit {
	was, is := needs(f.old), needs(f.new)
	old, now := jobs(f.old, "jobs"), jobs(f.new, "jobs")
	if len(now) > maxJobs {
		return []Hit{{Kind: Unexamined, Path: f.path(), Why: "The workflow holds more jobs than the guard compares; a person has to look."}}
	}
	checks := map[string]bool{}
	for name, lines := range now {
		checks[name] = len(commands(lines)) > 0
	}
	var hits []Hit
	for job, list := range was {
		if now[job] == nil || checks[job] || len(commands(old[job])) > 0 {
			continue
		}
		waits := reached(is, job)
		for _, n := range list {
			if checks[n.text] && !waits[n.text] {
				hits = append(hits, Hit{CI, f.path(), now[job][0].line, f.old.at(n.line), f.new.at(now[job][0].line), "The job " + job + " no longer waits for " + n.text + "."})
			}
		}
	}
	return hits
}

// maxJobs bounds the jobs of one workflow.
const maxJobs = 500

// reached are the jobs that a job waits for, be it by way of others.
func reached(needs map[string][]claim, job string) map[string]bool {
	seen, todo := map[string]bool{}, []string{job}
	for len(todo) > 0 {
		one := todo[0]
		todo = todo[1:]
		for _, n := range needs[one] {
			if !seen[n.text] {
				seen[n.text] = true
				todo = append(todo, n.text)
			}
		}
	}
	return seen
}

// needs are the jobs that each job of a GitHub workflow waits for.
func needs(s side) map[string][]claim {
	out := map[string][]claim{}
	for _, one := range settings(s) {
		if len(one.key) >= 3 && one.key[0] == "jobs" && one.key[2] == "needs" {
			out[one.key[1]] = append(out[one.key[1]], claim{one.value, one.line})
		}
	}
	return out
}

// jobs are the lines of each mapping below a top-level key of a YAML file, or, if
// that is "", of each top-level mapping. The first line is the one that names it.
func jobs(s side, below string) map[string][]claim {
	out := map[string][]claim{}
	depth, inside, name := -1, below == "", ""
	if inside {
		depth = 0
	}
	for i, line := range s.lines {
		text := uncomment(strings.TrimSpace(line))
		if text == "" {
			continue
		}
		at := indentation(line)
		if below != "" && at == 0 {
			inside, depth, name = text == below+":", -1, ""
			continue
		}
		if !inside {
			continue
		}
		if depth < 0 {
			depth = at
		}
		if at == depth {
			key, _, _ := strings.Cut(text, ":")
			name = unquote(key)
		}
		out[name] = append(out[name], claim{text, i + 1})
	}
	return out
}

// idleJobs finds jobs of GitLab and CircleCI that are still written down, with
// their checks, and that pull requests no longer run.
func idleJobs(f *file) []Hit {
	switch {
	case matches(f.new.path, ".circleci/*") && matches(f.old.path, ".circleci/*"):
		return unscheduled(f)
	case matches(f.new.path, "*.gitlab-ci.yml", ".gitlab/ci/*") && matches(f.old.path, "*.gitlab-ci.yml", ".gitlab/ci/*"):
		return append(hiddenJobs(f), elsewhen(f)...)
	}
	return nil
}

// unscheduled finds jobs of CircleCI that no workflow runs any more.
func unscheduled(f *file) []Hit {
	scheduled := func(s side) map[string]int {
		out := map[string]int{}
		for _, lines := range jobs(s, "workflows") {
			for _, l := range lines {
				if name, found := strings.CutPrefix(l.text, "- "); found {
					out[strings.TrimSuffix(unquote(name), ":")] = l.line
				}
			}
		}
		return out
	}
	now, there := scheduled(f.new), jobs(f.new, "jobs")
	var hits []Hit
	for name, line := range scheduled(f.old) {
		if _, still := now[name]; !still && len(commands(there[name])) > 0 {
			hits = append(hits, Hit{CI, f.path(), line, f.old.at(line), "", "No workflow runs the job " + name + " any more."})
		}
	}
	return hits
}

// hiddenJobs finds jobs of GitLab that a dot before the name made templates of,
// and that no job extends. See https://docs.gitlab.com/ci/jobs/#hide-a-job
func hiddenJobs(f *file) []Hit {
	was, is := jobs(f.old, ""), jobs(f.new, "")
	var hits []Hit
	tried := 0
	for name, lines := range is {
		bare, dotted := strings.CutPrefix(name, ".")
		if !dotted || was[bare] == nil || was[name] != nil || is[bare] != nil || len(commands(lines)) == 0 {
			continue
		}
		tried++
		used := tried <= maxJobs && slices.ContainsFunc(f.new.lines, func(l string) bool {
			return strings.Contains(l, name) && !strings.HasPrefix(l, name+":")
		})
		if !used {
			hits = append(hits, Hit{CI, f.path(), lines[0].line, f.old.at(was[bare][0].line), lines[0].text, "The job is hidden by the dot before its name."})
		}
	}
	return hits
}

var (
	onRequest = regexp.MustCompile(`(?i)merge_request|branch|pushes|\$CI_PIPELINE_SOURCE == .push|always`)
	withheld  = regexp.MustCompile(`^(?:only|except|rules)\b`)
)

// elsewhen finds jobs of GitLab with checks that came to run only at other times than
// for a merge request: none of the conditions that they have now names one.
func elsewhen(f *file) []Hit {
	was, is := jobs(f.old, ""), jobs(f.new, "")
	condition := func(lines []claim) (at claim, found, requests bool) {
		for i, l := range lines {
			if !withheld.MatchString(l.text) || i == 0 {
				continue
			}
			at, found = l, true
			requests = requests || strings.HasPrefix(l.text, "except")
			for j := i; j < len(lines) && (j == i || isItem(lines[j].text) || strings.HasPrefix(lines[j].text, "refs:")); j++ {
				if onRequest.MatchString(lines[j].text) {
					requests = !strings.HasPrefix(l.text, "except")
				}
			}
		}
		return at, found, requests
	}
	var hits []Hit
	for name, lines := range is {
		if was[name] == nil || len(commands(lines)) == 0 {
			continue
		}
		_, had, requested := condition(was[name])
		if at, found, requests := condition(lines); found && (!had || requested) && !requests {
			hits = append(hits, Hit{CI, f.path(), at.line, "", at.text, "The check no longer runs for every merge request."})
		}
	}
	return hits
}

// guardsCheck reports whether the job or step that a line belongs to runs a
// check: it looks at what is indented as deep as the line, or deeper.
func guardsCheck(s side, line int) bool {
	depth := strings.IndexFunc(s.lines[line-1], func(r rune) bool { return r != ' ' && r != '-' })
	column := func(i int) int {
		return strings.IndexFunc(s.lines[i], func(r rune) bool { return r != ' ' && r != '-' })
	}
	from, to := line-1, line-1
	for from > 0 && !isItem(s.at(from+1)) && (s.at(from) == "" || column(from-1) >= depth) {
		from--
	}
	for to+1 < len(s.lines) && (s.at(to+2) == "" || column(to+1) >= depth && !(isItem(s.at(to+2)) && column(to+1) == depth)) {
		to++
	}
	var lines []claim
	for i := from; i <= to; i++ {
		lines = append(lines, claim{s.at(i + 1), i + 1})
	}
	return len(commands(lines)) > 0
}

// triggers lists the events that start a GitHub workflow.
func triggers(s side) []claim {
	var out []claim
	open := false
	for i, line := range s.lines {
		text := uncomment(strings.TrimSpace(line))
		switch {
		case text == "":
		case indentation(line) == 0:
			rest, found := strings.CutPrefix(text, "on:")
			if !found {
				rest, found = strings.CutPrefix(text, `"on":`)
			}
			if open = found; !open {
				continue
			}
			for _, name := range word.FindAllString(rest, -1) {
				out = append(out, claim{name, i + 1})
			}
		case open && (indentation(line) <= 2 || isItem(text)) && !strings.HasPrefix(text, "- '") && indentation(line) <= 4:
			if name := word.FindString(text); name != "" && indentation(line) <= 2 {
				out = append(out, claim{name, i + 1})
			}
		}
	}
	return out
}
