// Package ci reads the pipelines of CI systems into one model and compares what they
// check before and after a change: which checks run, on what, and whether each can still
// fail. One file per system turns its documents into pipelines; one comparison serves
// all. It does no I/O.
package ci

import (
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"touchstone/verdict/guard/doc"
	"touchstone/verdict/guard/shell"
)

// Strength is how surely a check stops a pull request.
type Strength int

// From what stops nothing to what stops every pull request.
const (
	Never     Strength = iota // it cannot fail, or does not run
	Elsewhere                 // it runs, but not for pull requests
	Sometimes                 // a condition that cannot be decided here says whether
	Always                    // it runs for pull requests and its failure stops them
)

// Pipeline is one document of a CI system.
type Pipeline struct {
	// Strength is what its triggers allow, and Line where they stand.
	Strength Strength
	Line     int
	Jobs     []Job
	// Triggers are the events that start it, where its system has such.
	Triggers []Trigger
	// Called says that another pipeline's job can run this one.
	Called bool
}

// Trigger is one event, and what limits it: "paths src/**" and the like.
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
	Steps    []Step
	// Calls is the path of a pipeline that the job runs, and Inputs what it is told.
	Calls  string
	Inputs map[string]string
}

// Cell is one case of a matrix: the values of its axes.
type Cell map[string]string

// Step is a script, or an action by its name.
type Step struct {
	Line int
	// Script is what its shell runs; ScriptLine is the line before its first.
	Script     string
	ScriptLine int
	Options    shell.Options
	Dir        string
	// Context is what else decides what the script's checks look at.
	Context string
	// Uses is a published action, and With what it is given.
	Uses string
	With map[string]string
	// Strength says for a cell whether the step runs and may fail its job.
	Strength func(Cell) Strength
}

// Run is one check in one cell of one job, or with no Check a command that can fail its job
// and is none that is known.
type Run struct {
	Path, Job string
	Check     string
	Guessed   bool
	Strength  Strength
	Args      []string
	Line      int
	// Trigger is the line that names what the pipeline runs on.
	Trigger int
	// Context is its step's.
	Context string
}

// errNoPipeline says that a document is none of its system's pipelines.
var errNoPipeline = errors.New("it is no pipeline")

// system is a CI system: how its files are known, and what reads them.
type system struct {
	is   func(name string) bool
	read func(root *doc.Node) (Pipeline, error)
}

var systems = []system{
	{isGitHub, readGitHub},
	{isGitLab, readGitLab},
	{func(name string) bool { return name == ".circleci/config.yml" }, readCircleCI},
	{isAzure, readAzure},
	{isAzureTemplate, readAzureTemplate},
	{func(name string) bool { return name == ".travis.yml" }, readTravis},
	{isListed, readListed},
}

// Is reports whether a file of this name is a pipeline.
func Is(name string) bool {
	return isJenkins(name) || slices.ContainsFunc(systems, func(s system) bool { return s.is(name) })
}

// Read parses a pipeline. A document that is none, such as an action's own description,
// is one without jobs.
func Read(name string, content []byte) (Pipeline, error) {
	if isJenkins(name) {
		return readJenkins(content)
	}
	for _, s := range systems {
		if !s.is(name) {
			continue
		}
		root, err := doc.Parse(strings.TrimSuffix(name, path.Ext(name))+".yml", content)
		if err != nil {
			return Pipeline{}, err
		}
		p, err := s.read(root)
		if errors.Is(err, errNoPipeline) {
			return Pipeline{}, nil
		}
		return p, err
	}
	return Pipeline{}, nil
}

func isYAML(name string) bool { return path.Ext(name) == ".yml" || path.Ext(name) == ".yaml" }

// fixed is a strength that no cell changes.
func fixed(s Strength) func(Cell) Strength { return func(Cell) Strength { return s } }

// maxRuns bounds the runs of one pipeline.
const maxRuns = 5000

// Runs are the checks of a pipeline, with what its scripts stand for looked up in the
// project. The error says which line's script could not be read.
func (p Pipeline) Runs(name string, project *shell.Project) (runs []Run, unread []int) {
	for _, job := range p.Jobs {
		for i, step := range job.Steps {
			checks, ok := step.checks(project)
			if !ok {
				unread = append(unread, step.Line)
			}
			for _, cell := range job.Cells {
				if slices.ContainsFunc(job.Steps[:i], func(s Step) bool { return s.same(step) && s.Strength(cell) >= step.Strength(cell) }) {
					continue // it checks nothing more
				}
				strength := min(p.Strength, job.Strength, step.Strength(cell))
				for _, c := range checks {
					c.Path, c.Job, c.Trigger, c.Context = name, job.Name, p.Line, step.Context
					if c.Strength = min(c.Strength, strength); len(runs) < maxRuns {
						runs = append(runs, c)
					}
				}
			}
		}
	}
	return runs, unread
}

// same reports whether two steps of a job do the same.
func (s Step) same(other Step) bool {
	return s.Script == other.Script && s.Options == other.Options && s.Dir == other.Dir && s.Context == other.Context &&
		s.Uses == other.Uses && maps.Equal(s.With, other.With)
}

// checks are what one step checks. They are the same in every cell of a matrix.
func (s Step) checks(project *shell.Project) (runs []Run, ok bool) {
	if s.Uses != "" {
		if name, args := actionCheck(s.Uses, s.With); name != "" {
			strength := Always
			if neutral(args) {
				strength = Never
			}
			runs = append(runs, Run{Check: name, Strength: strength, Args: args, Line: s.Line})
		}
	}
	if strings.TrimSpace(s.Script) == "" {
		return runs, true
	}
	commands, err := shell.Parse(s.Script, s.Options)
	if err != nil {
		return runs, false
	}
	dir := path.Clean(strings.TrimPrefix(s.Dir, "./"))
	for _, c := range commands {
		if c.Args[0] == "cd" && len(c.Args) > 1 && !strings.ContainsAny(c.Args[1], "$~") {
			dir = path.Join(dir, c.Args[1])
			continue
		}
		for _, one := range project.Resolve(c, dir) {
			check, is := one.Check()
			if !is && one.Idle() {
				continue
			}
			r := Run{Check: check.Name, Guessed: check.Guessed, Strength: Always, Args: one.Args, Line: s.ScriptLine + one.Line}
			switch {
			case one.Lost || neutral(one.Args):
				r.Strength = Never
			case one.Conditional:
				r.Strength = Sometimes
			}
			runs = append(runs, r)
		}
	}
	return runs, true
}

// hushed are options by which a tool exits with success in spite of what it finds.
var hushed = []string{"--exit-zero", "--exit-code=0", "--issues-exit-code=0", "-DskipTests", "-DskipTests=true",
	"-Dmaven.test.skip", "-Dmaven.test.skip=true",
	"-Dmaven.test.failure.ignore", "-Dmaven.test.failure.ignore=true", "-DtestFailureIgnore=true", "--collect-only", "--no-run",
	"--soft-fail", "-fn", "--fail-never"}

// neutral reports options that keep a check from failing.
func neutral(args []string) bool {
	for i, a := range args {
		after := ""
		if i+1 < len(args) {
			after = args[i+1]
		}
		if slices.Contains(hushed, a) || (a == "--exit-code" || a == "--issues-exit-code") && after == "0" || a == "-x" &&
			(after == "test" || after == "check") {
			return true
		}
	}
	return false
}
