package guard

import (
	"regexp"
	"slices"
	"strings"
)

// job is one job of a GitHub workflow.
type job struct {
	id    string
	label string // the name that its check has on a pull request
	line  int
	steps []step
	// own are its settings besides the steps, by the key below the job.
	own   map[string]setting
	needs []string
}

// step is one step of a job: its settings by the key below the step, of which "run"
// may have several.
type step struct {
	line int
	own  map[string][]setting
}

func (s step) one(key string) setting {
	if list := s.own[key]; len(list) > 0 {
		return list[0]
	}
	return setting{}
}

// checks are the commands and actions of a step that can fail a change.
func (s step) checks() []command {
	var lines []claim
	for _, r := range s.own["run"] {
		lines = append(lines, claim{uncomment(r.value), r.line})
	}
	for _, u := range s.own["uses"] {
		lines = append(lines, claim{"uses: " + u.value, u.line})
	}
	return commands(lines)
}

func (j *job) checks() []command {
	var out []command
	for _, s := range j.steps {
		out = append(out, s.checks()...)
	}
	return out
}

// delegates reports whether another workflow's jobs stand for this one, or jobs that
// it waits for.
func (j *job) delegates() bool { return j.own["uses"].value != "" }

// workflowJobs are the jobs of a GitHub workflow, in order. Other sides have none.
func workflowJobs(s side) []*job {
	if !matches(s.path, ".github/workflows/*") {
		return nil
	}
	byID := map[string]*job{}
	var out []*job
	for _, one := range settings(s) {
		if len(one.key) < 3 || one.key[0] != "jobs" || len(out) > maxJobs {
			continue
		}
		j := byID[one.key[1]]
		if j == nil {
			j = &job{id: one.key[1], label: one.key[1], line: one.line, own: map[string]setting{}}
			byID[j.id] = j
			out = append(out, j)
		}
		key := strings.Join(one.key[2:], ".")
		switch rest, found := strings.CutPrefix(key, "steps.[]."); {
		case found:
			if n := len(j.steps); n == 0 || j.steps[n-1].line != one.item {
				j.steps = append(j.steps, step{one.item, map[string][]setting{}})
			}
			own := j.steps[len(j.steps)-1].own
			own[rest] = append(own[rest], one)
		case key == "needs" || key == "needs.[]":
			j.needs = append(j.needs, one.value)
		case key == "name" && !strings.Contains(one.value, "${{"):
			j.label = one.value
		default:
			j.own[key] = one
		}
	}
	return out
}

// defaultDirectory is the setting of where all steps of a workflow run.
func defaultDirectory(s side) setting {
	for _, one := range settings(s) {
		if strings.Join(one.key, ".") == "defaults.run.working-directory" {
			return one
		}
	}
	return setting{}
}

// jobsCompared finds jobs of GitHub workflows that run the checks they ran, but
// elsewhere, on other code, or by a shell that does not tell how they ended; and jobs
// that bear the name of one that checks, and check nothing.
func jobsCompared(p *patch) []Hit {
	var hits []Hit
	checked := map[string]bool{} // the labels of jobs that checked something
	for _, f := range p.files {
		for _, j := range workflowJobs(f.old) {
			checked[j.label] = checked[j.label] || len(j.checks()) > 0
		}
	}
	for _, f := range p.files {
		if f.new.text == f.old.text {
			continue
		}
		was, is := workflowJobs(f.old), workflowJobs(f.new)
		hits = append(hits, hollow(f, was, is, checked)...)
		if len(was) > 0 && len(is) > 0 {
			hits = append(hits, displaced(p, f, was, is)...)
			hits = append(hits, otherCode(f, was, is)...)
			hits = append(hits, shells(f, was, is)...)
			hits = append(hits, inputs(f, was, is)...)
		}
	}
	return hits
}

// hollow finds jobs that check nothing under the name of one that checked: a branch
// rule that asks for the name is content with them. One that waits for a job with
// checks is not hollow. Of one that lost its checks altogether lostChecks tells.
func hollow(f *file, was, is []*job, checked map[string]bool) []Hit {
	byID := map[string]*job{}
	for _, j := range is {
		byID[j.id] = j
	}
	works := func(j *job) bool { return j != nil && (j.delegates() || len(j.checks()) > 0) }
	var hits []Hit
	for _, j := range is {
		waits := slices.ContainsFunc(j.needs, func(id string) bool { return works(byID[id]) })
		itself := slices.ContainsFunc(was, func(o *job) bool { return o.label == j.label && !elsewhere(o, is) })
		if checked[j.label] && !works(j) && !waits && !itself {
			hits = append(hits, Hit{CI, f.path(), j.line, "", f.new.at(j.line), "The job " + j.label + " has the name of one that checks, and checks nothing."})
		}
	}
	return hits
}

// elsewhere reports whether a job had checks and another one runs them now.
func elsewhere(o *job, is []*job) bool {
	list := o.checks()
	return len(list) > 0 && !slices.ContainsFunc(list, func(c command) bool {
		return !slices.ContainsFunc(is, func(j *job) bool {
			return slices.ContainsFunc(j.checks(), func(n command) bool { return n.key == c.key })
		})
	})
}

// places are the directories in which each check of some jobs runs.
func places(jobs []*job, otherwise setting) map[string][]claim {
	out := map[string][]claim{}
	for _, j := range jobs {
		for _, s := range j.steps {
			dir := setting{line: s.line}
			for _, one := range []setting{otherwise, j.own["defaults.run.working-directory"], s.one("working-directory")} {
				if one.value != "" {
					dir = one
				}
			}
			for _, c := range s.checks() {
				out[c.key] = append(out[c.key], claim{strings.Trim(strings.TrimPrefix(dir.value, "./"), "/."), dir.line})
			}
		}
	}
	return out
}

// displaced finds checks that run in another directory than before, although the
// code did not move there.
func displaced(p *patch, f *file, was, is []*job) []Hit {
	before, after := places(was, defaultDirectory(f.old)), places(is, defaultDirectory(f.new))
	var hits []Hit
	for key, list := range before {
		for _, o := range list {
			stays := func(n claim) bool { return n.text == o.text || strings.Contains(n.text, "${{") }
			at := slices.IndexFunc(after[key], func(n claim) bool {
				return !slices.ContainsFunc(list, func(o claim) bool { return o.text == n.text })
			})
			if at < 0 || slices.ContainsFunc(after[key], stays) || codeMoved(p, o.text, after[key][at].text) {
				continue
			}
			n := after[key][at]
			hits = append(hits, Hit{CI, f.path(), n.line, f.old.at(o.line), f.new.at(n.line), "The check " + key + " runs in another directory than it did."})
			break
		}
	}
	return hits
}

// codeMoved reports whether the change takes code from one directory into another.
func codeMoved(p *patch, from, to string) bool {
	return slices.ContainsFunc(p.files, func(f *file) bool {
		return f.old.path != "" && f.new.path != "" && languageOf(f.old.path) != "" && to != "" &&
			(from == "" || below(f.old.path, from)) && !below(f.old.path, to) && below(f.new.path, to)
	})
}

var (
	checkout = regexp.MustCompile(`^actions/checkout@`)
	ownHead  = regexp.MustCompile(`github\.(?:event\.pull_request\.(?:head\.\w+|number)|event\.(?:workflow_run\.)?head\S*|head_ref|sha|ref|ref_name|event\.after)\b|inputs\.`)
	discards = regexp.MustCompile(`\bgit (?:checkout|switch|restore|reset --hard|stash|revert)\b|\brm -r?f? .*(?:test|spec)`)
)

// otherCode finds jobs with checks that came to check out something else than what
// is proposed, or to put it back before they check.
func otherCode(f *file, was, is []*job) []Hit {
	had := map[string]bool{}
	takes := func(j *job, each func(key string, at setting)) {
		if len(j.checks()) == 0 {
			return
		}
		for _, s := range j.steps {
			ref, repository := s.one("with.ref"), s.one("with.repository")
			switch {
			case !checkout.MatchString(s.one("uses").value):
			case repository.value != "" && s.one("with.path").value == "":
				each(repository.value, repository)
			case repository.value == "" && ref.value != "" && !ownHead.MatchString(ref.value) && s.one("with.path").value == "":
				each(ref.value, ref)
			}
			for _, r := range s.own["run"] {
				if discards.MatchString(r.value) {
					each(r.value, r)
				}
			}
		}
	}
	for _, j := range was {
		takes(j, func(key string, _ setting) { had[key] = true })
	}
	var hits []Hit
	for _, j := range is {
		takes(j, func(key string, at setting) {
			if !had[key] {
				hits = append(hits, Hit{CI, f.path(), at.line, "", f.new.at(at.line), "The checks run on something else than the change."})
			}
		})
	}
	return hits
}

var plainShell = regexp.MustCompile(`^(?:bash|sh|pwsh|powershell|cmd|python)$|^(?:bash|sh) .*-\w*e|\$\{\{`)

// shells finds steps with checks that run by a shell of which it is not known that it
// stops, and tells, where one fails.
func shells(f *file, was, is []*job) []Hit {
	had := map[string]bool{}
	for _, j := range was {
		for _, s := range j.steps {
			had[s.one("shell").value] = true
		}
		had[j.own["defaults.run.shell"].value] = true
	}
	var hits []Hit
	for _, j := range is {
		for _, s := range j.steps {
			for _, one := range []setting{s.one("shell"), j.own["defaults.run.shell"]} {
				if one.value != "" && !had[one.value] && !plainShell.MatchString(one.value) && len(s.checks()) > 0 {
					had[one.value] = true
					hits = append(hits, Hit{CI, f.path(), one.line, "", f.new.at(one.line), "The check runs by a shell that may not tell that it failed."})
				}
			}
		}
	}
	return hits
}
