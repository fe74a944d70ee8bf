// Package ci reads the pipelines of CI systems into one model and compares their checks before and after a
// change: which checks run, on what, and whether each can still fail. Each system has one file that reads its
// documents as pipelines; one comparison serves all systems. Package ci does no I/O.
package ci

import (
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"touchstone/verdict/guard/doc"
	"touchstone/verdict/guard/shell"
)

// Strength is how reliably a check stops a bad pull request.
type Strength int

// The strengths, from stopping nothing to stopping every bad pull request.
const (
	Never     Strength = iota // it cannot fail, or does not run
	Elsewhere                 // it runs, but not for pull requests
	Sometimes                 // it depends on a condition that cannot be decided here
	Always                    // it runs for pull requests and its failure stops them
)

// Pipeline is one document of a CI system.
type Pipeline struct {
	// Strength is what its triggers allow; Line is their line.
	Strength Strength
	Line     int
	Jobs     []Job
	// Triggers are the events that start it, for systems that have them.
	Triggers []Trigger
	// Called says that another pipeline's job can run this one.
	Called bool
}

// Trigger is one event with its filters, such as "paths src/**".
type Trigger struct {
	Event   string
	Line    int
	Filters []string
}

// Job is a list of steps that run on one machine, once for each cell of its matrix.
type Job struct {
	Name     string
	Line     int
	Strength Strength // what its conditions allow
	Cells    []Cell   // at least one
	// Computed are the cases left out that no cell shows, with their lines.
	Computed map[string]int
	Steps    []Step
	// Machine is what the job runs on, "" if it is unknown or differs from case to case.
	Machine string
	// Environment is what the job is deployed to, "" for nothing.
	Environment string
	// Calls is the path of a pipeline or template that the job runs, and Inputs are its inputs.
	Calls  string
	Inputs map[string]string
	// Chosen says that another job, and neither a fork nor the text of a pull request, decides whether it runs.
	Chosen bool
	// Needs are the jobs without whose success it does not run, and Judged those whose failure makes it fail.
	Needs, Judged []string
}

// Cell is one case of a matrix: the values of its axes.
type Cell map[string]string

// Step is a script, or a named action.
type Step struct {
	// MayFail is what says whether its failure fails the job.
	Name, MayFail string
	Line          int
	// Script is what its shell runs; ScriptLine is the line before the script's first line.
	Script     string
	ScriptLine int
	Options    shell.Options
	Dir        string
	// Env are its variables that steer checks, each as an assignment.
	Env []string
	// Context is what else determines what the script's checks examine.
	Context string
	// Uses is the name of a published action, and With are its inputs.
	Uses string
	With map[string]string
	// Strength reports for a cell whether the step runs and can fail its job.
	Strength func(Cell) Strength
	// parsed is the script, parsed once; nil for one that is parsed each time.
	parsed func() ([]shell.Command, error)
}

// commands are those of the step's script.
func (s Step) commands() ([]shell.Command, error) {
	if s.parsed != nil {
		return s.parsed()
	}
	return shell.Parse(s.Script, s.Options)
}

// parseOnce lets the steps parse their scripts once.
func parseOnce(steps []Step) {
	for i, s := range steps {
		steps[i].parsed = sync.OnceValues(s.commands)
	}
}

// Run is one check in one cell of one job or, without a Check, a command that can fail its job and is not a
// known check.
type Run struct {
	Path, Job string
	Step      Step // that it belongs to
	Cell      Cell // that it runs in
	Check     string
	Guessed   bool
	Strength  Strength
	Args      []string
	Dir       string // where it runs
	Line      int
	// Inside says that it runs for no pull request from a fork, and Asked that the text of a pull request decides whether it
	// runs.
	Inside, Asked bool
}

// system is a CI system: how to recognize its files, and how to read them.
type system struct {
	is   func(name string) bool
	read func(content []byte) (Pipeline, error)
}

var systems = []system{
	{isJenkins, readJenkins},
	{isGitHub, document(readGitHub)},
	{isGitLab, document(readGitLab)},
	{func(name string) bool { return name == ".circleci/config.yml" }, document(readCircleCI)},
	{isAzure, document(readAzure)},
	{isAzureTemplate, document(readAzureTemplate)},
	{func(name string) bool { return name == ".travis.yml" }, document(readTravis)},
	{isListed, document(readListed)},
}

// document reads a pipeline from YAML.
func document(read func(root *doc.Node) (Pipeline, error)) func(content []byte) (Pipeline, error) {
	return func(content []byte) (Pipeline, error) {
		root, err := doc.Parse(".yml", content)
		if err != nil {
			return Pipeline{}, err
		}
		return read(root)
	}
}

// Is reports whether a file of this name is a pipeline.
func Is(name string) bool { return serviceOf(name) >= 0 }

// serviceOf is a number for the system of a pipeline, -1 for another file.
func serviceOf(name string) int {
	return slices.IndexFunc(systems, func(s system) bool { return s.is(name) })
}

// Read parses a pipeline. A document that is not a pipeline, such as the description of an action, becomes a
// pipeline without jobs.
func Read(name string, content []byte) (Pipeline, error) {
	i := serviceOf(name)
	if i < 0 {
		return Pipeline{}, nil
	}
	p, err := systems[i].read(content)
	for _, j := range p.Jobs {
		parseOnce(j.Steps)
	}
	return p, err
}

func isYAML(name string) bool { return path.Ext(name) == ".yml" || path.Ext(name) == ".yaml" }

// fixed is a strength that is the same for every cell.
func fixed(s Strength) func(Cell) Strength { return func(Cell) Strength { return s } }

// maxRuns bounds the runs of one pipeline.
const maxRuns = 5000

// Runs returns the checks of a pipeline, with commands resolved in the project, and the lines of steps whose
// scripts could not be read.
func (p Pipeline) Runs(name string, project *shell.Project) (runs []Run, unread []int) {
	for _, job := range p.Jobs {
		for i, step := range job.Steps {
			checks, ok := step.checks(project)
			if !ok {
				unread = append(unread, step.Line)
			}
			for _, cell := range job.Cells {
				if slices.ContainsFunc(job.Steps[:i], func(s Step) bool { return s.same(step) && s.Strength(cell) >= step.Strength(cell) }) {
					continue // the same step again checks nothing more
				}
				strength := min(p.Strength, job.Strength, step.Strength(cell))
				not := func(marker, value string) bool {
					if strength != Sometimes {
						return false
					}
					one := maps.Clone(cell)
					one[marker] = value
					return step.Strength(one) < Sometimes
				}
				inside, asked := not(fork, "true"), not(says, "true") || not(says, "false")
				for _, c := range checks {
					c.Path, c.Job, c.Step, c.Cell, c.Inside, c.Asked = name, job.Name, step, cell, inside, asked
					if c.Strength = min(c.Strength, strength); len(runs) < maxRuns {
						runs = append(runs, c)
					}
				}
			}
		}
	}
	return runs, unread
}

// steer adds the variables that steer checks, which the step, its job or its document sets, in this order.
func (s *Step) steer(key string, nodes ...*doc.Node) {
	var out []string
	for _, n := range nodes {
		for _, v := range n.Get(key).Members() {
			known, set := contains(steering, v.Key), v.Key+"="+v.Value
			if known || strings.Contains(v.Key, "RETRY") || strings.Contains(v.Key, "RETRIES") {
				out = append(out, set)
			}
			if inner := func(e string) bool { return strings.HasPrefix(e, v.Key+"=") }; known && !slices.ContainsFunc(s.Env, inner) {
				s.Env = append(s.Env, set)
			}
		}
	}
	slices.Sort(out)
	s.Context = strings.TrimSpace(s.Context + " " + strings.Join(slices.Compact(out), " "))
}

// same reports whether two steps of a job do the same.
func (s Step) same(other Step) bool {
	return s.Script == other.Script && s.Options == other.Options && s.Dir == other.Dir && s.Context == other.Context &&
		s.Uses == other.Uses && maps.Equal(s.With, other.With)
}

// checks returns what one step checks. It is the same in every cell of a matrix.
func (s Step) checks(project *shell.Project) (runs []Run, ok bool) {
	if s.Uses != "" {
		if name, args := actionCheck(s.Uses, s.With); name != "" {
			strength := Always
			if (shell.Command{Args: args}).Neutral() {
				strength = Never
			}
			runs = append(runs, Run{Check: name, Strength: strength, Args: args, Line: s.Line})
		}
	}
	if strings.TrimSpace(s.Script) == "" {
		return runs, true
	}
	commands, err := s.commands()
	if err != nil {
		return runs, false
	}
	dir := path.Clean(strings.TrimPrefix(s.Dir, "./"))
	for _, c := range commands {
		if c.Args[0] == "cd" && len(c.Args) > 1 && !strings.ContainsAny(c.Args[1], "$~") {
			dir = path.Join(dir, c.Args[1])
			continue
		}
		target, _ := c.Check()
		for _, one := range project.Resolve(c, dir) {
			check, is := one.Check()
			check.Guessed = check.Guessed && !strings.HasSuffix(target.Name, " test") // what "npm test" runs is a test
			if !is && one.Idle() {
				continue
			}
			r := Run{Check: check.Name, Guessed: check.Guessed, Strength: Always, Args: one.Args, Dir: dir,
				Line: s.ScriptLine + one.Line}
			switch {
			case one.Lost || shell.Command{Args: slices.Concat(s.Env, one.Args)}.Neutral():
				r.Strength = Never
			case one.Conditional:
				r.Strength = Sometimes
			}
			runs = append(runs, r)
		}
	}
	return runs, true
}
