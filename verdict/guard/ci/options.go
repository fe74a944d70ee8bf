package ci

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/shell"
)

// limit matches an option whose number must be reached or, with "max" in its name, must not be exceeded.
var limit = regexp.MustCompile(`(?i)^--?([\w.-]*(?:fail-under|min-coverage|threshold|max-warnings|coverage-min)[\w.-]*|level)$`)

// severest matches an option whose value is the least of the severities that fail a check.
var (
	severest   = regexp.MustCompile(`^--(audit-level|fail-on-severity|severity-threshold)$`)
	severities = strings.Fields("info low moderate high critical none")
)

// options compares the command lines of checks that stayed in their jobs.
func (c *comparison) options() {
	of := func(r Run) string { return r.job() + "\x00" + r.Check }
	had, has, done := grouped(c.before.runs, of), grouped(c.after.runs, of), map[string]bool{}
	for _, was := range c.before.runs {
		if done[of(was)] || was.Strength < Sometimes {
			continue
		}
		done[of(was)] = true
		before, after := lines(had[of(was)]), lines(has[of(was)])
		for i := range min(len(before), len(after)) {
			if len(before) == len(after) {
				c.arguments(before[i], after[i])
			}
		}
		c.context(before, after)
	}
}

// lines returns those of the runs of one check in one job that have different command lines.
func lines(runs []Run) (out []Run) {
	seen := map[string]bool{}
	for _, r := range runs {
		if r.Strength >= Sometimes && !seen[r.command()] {
			seen[r.command()] = true
			out = append(out, r)
		}
	}
	return out
}

func (c *comparison) arguments(was, is Run) {
	at := change.Place{Path: is.Path, Line: is.Line, Before: was.command(), After: is.command()}
	for name, old := range numbers(was.Args) {
		now, there := numbers(is.Args)[name]
		if lower := now < old; !there || strings.Contains(name, "max") && now > old || !strings.Contains(name, "max") && lower {
			tier := change.HoldIf(there) // else it may be in a configuration file now
			c.add(tier, change.Threshold, "limit", fmt.Sprintf("The limit %s of %s is easier to meet.", name, was.Check), at)
		}
	}
	for _, rule := range is.allowed() {
		if !slices.Contains(was.allowed(), rule) {
			tool, _, _ := strings.Cut(strings.TrimPrefix(was.Check, "cargo "), " ")
			tier := change.HoldIf(!change.Brings(c.files, regexp.MustCompile(`\b`+regexp.QuoteMeta(tool)+`\b`)))
			c.add(tier, change.Strictness, "lint-allowed", fmt.Sprintf("The check %s no longer reports %s.", was.Check, rule), at)
		}
	}
	lost, gained := fewer(was.Args, is.Args), fewer(is.Args, was.Args)
	if option := leavesOut(gained); option != "" && len(lost) == 0 && isTest(was.Check) {
		c.add(c.unexplained(), change.CI, "tests-left-out", fmt.Sprintf("The check %s is told %s now.", was.Check, option), at)
	}
	if len(lost) > 0 && len(gained) == 0 && !slices.ContainsFunc(lost, func(a string) bool { return !strict.MatchString(a) }) {
		c.add(c.unexplained(), change.Strictness, "less-strict", fmt.Sprintf("The check %s is no longer told %s.", was.Check, lost[0]), at)
	}
	if denies(was.Args) && !denies(is.Args) && !strings.Contains(strings.ToLower(is.Step.Context), "warnings") {
		c.add(change.Hold, change.CI, "warnings-allowed", fmt.Sprintf("The check %s no longer fails on warnings.", was.Check), at)
	}
}

// The options in choosing leave out tests if their value says that it is the others that run.
var (
	choosing = strings.Fields("-k -m -E --filter --tag -t --gtest_filter")
	others   = regexp.MustCompile(`^(?:not\b|!|~|-)|\bnot[ (]|!=|!~`)
)

// strict matches options by which a check reports more, or fails because of warnings.
var strict = regexp.MustCompile(`^--(?:strict|warnings-as-errors|deny-warnings|error-on-warnings?|fail-on-warnings?|Werror)$`)

// leavesOut is the first of some further arguments of a runner, if all of them leave out tests; "" if not.
func leavesOut(args []string) (first string) {
	for i := 0; i < len(args); i++ {
		name, value, inline := strings.Cut(args[i], "=")
		if bare, rest, colon := strings.Cut(name, ":"); colon {
			name, value, inline = bare, rest, true
		}
		if !inline && i+1 < len(args) && !strings.HasPrefix(args[i+1], "--") {
			value = args[i+1]
		}
		chosen := slices.Contains(choosing, name) && others.MatchString(value)
		if name == "--" && i+1 < len(args) {
			continue
		}
		if !slices.Contains(leaving, name) && !chosen {
			return ""
		}
		if first == "" {
			first = strings.TrimSpace(name + " " + value)
		}
		if !inline && value != "" {
			i++
		}
	}
	return first
}

// fewer returns the arguments that the other list does not have, but those that only change what is printed.
func fewer(args, other []string) []string {
	left := change.Without(args, other, func(a string) string { return a })
	return slices.DeleteFunc(left, printing.MatchString)
}

// context reports a remaining check that runs in another way than before, if no finding above says how.
func (c *comparison) context(before, after []Run) {
	if len(after) == 0 {
		return
	}
	was, is := before[0], after[0]
	at := change.Place{Path: is.Path, Line: is.Line, Before: was.command(), After: is.command()}
	for _, f := range c.found {
		if f.Path == is.Path && f.Line == is.Line {
			return
		}
	}
	switch {
	case was.Step.Context != is.Step.Context:
		at.Before, at.After = was.Step.Context, is.Step.Context
		c.add(change.Evidence, change.CI, "context-changed", fmt.Sprintf("Where or with what %s runs is changed.", is.Check), at)
	case slices.ContainsFunc(before, func(b Run) bool {
		return !slices.ContainsFunc(after, func(a Run) bool { return a.looksAt() == b.looksAt() })
	}):
		c.add(change.Evidence, change.CI, "command-changed", fmt.Sprintf("The command line of %s is changed.", is.Check), at)
	}
}

// looksAt is a run's command line without options that only change the output.
func (r Run) looksAt() string {
	return strings.Join(slices.DeleteFunc(slices.Clone(r.Args), printing.MatchString), " ")
}

// commands compares the command lines of programs that are not known as checks, in pipelines without any other
// finding: such a program is known by its name, and may now check less.
func (c *comparison) commands() {
	for _, was := range c.before.others {
		if isTest(strings.ToLower(was.Step.Name)) && c.after.jobs[was.job()].Strength >= Sometimes {
			had, now := like(c.before.others, was), like(c.after.others, was)
			if can := count(now, Sometimes); len(now) >= len(had) && now[0].Step.MayFail != was.Step.MayFail && can < count(had, Sometimes) {
				c.add(c.unexplained(), change.CI, "cannot-fail", fmt.Sprintf("The step %s can fail the change in %d of %d cases.", was.Step.Name,
					can, len(now)), change.Place{Path: was.Path, Line: now[0].Line, After: was.command()})
			}
		}
		if was.Strength == Never || ran(c.after.others, was) || ran(c.after.runs, was) ||
			slices.ContainsFunc(c.found, func(f change.Finding) bool { return f.Path == was.Path }) {
			continue
		}
		i := slices.IndexFunc(c.after.others, func(is Run) bool {
			return is.job() == was.job() && is.Args[0] == was.Args[0] && !ran(c.before.others, is)
		})
		if i < 0 {
			continue
		}
		if is := c.after.others[i]; change.Unversioned(is.command()) != change.Unversioned(was.command()) {
			c.add(change.Evidence, change.CI, "command-changed", fmt.Sprintf("The command line of %s is changed.", is.Args[0]),
				change.Place{Path: is.Path, Line: is.Line, Before: was.command(), After: is.command()})
		}
	}
}

// like returns the runs of the same command in the same job and step.
func like(runs []Run, r Run) []Run {
	return where(runs, func(o *Run) bool {
		return o.Path == r.Path && o.Job == r.Job && o.Step.Name == r.Step.Name && slices.Equal(o.Args, r.Args)
	})
}

var printing = regexp.MustCompile(`^(?:-v+|-q+|--(?:no-)?(?:verbose|quiet|color|colour|colors|progress)(?:=\w+)?)$`)

// denies reports whether options make Rust's tools fail on warnings.
func denies(args []string) bool {
	return strings.Contains(strings.Join(args, " ")+" ", "-D warnings ") || slices.Contains(args, "-Dwarnings")
}

// allowed returns what the options of a run tell its check not to report.
func (r Run) allowed() (rules []string) {
	var options []string
	for check, all := range ignoring {
		if strings.HasPrefix(r.Check, check) {
			options = append(options, all...)
		}
	}
	for i := range r.Args {
		if name, value := option(r.Args[i:]); slices.Contains(options, name) {
			rules = append(rules, strings.Split(value, ",")...)
		}
	}
	return rules
}

// option is the name of the first of some arguments, and its value: what is behind it, or the next argument.
func option(args []string) (name, value string) {
	name, value, inline := strings.Cut(args[0], "=")
	if !inline && len(args) > 1 {
		value = args[1]
	}
	return name, value
}

// numbers returns the limits among the options of a command.
func numbers(args []string) map[string]float64 {
	out := map[string]float64{}
	for i := range args {
		name, value := option(args[i:])
		if grade := slices.Index(severities, strings.ReplaceAll(value, "medium", "moderate")); grade >= 0 && severest.MatchString(name) {
			out[name+" (max)"] = float64(grade)
		}
		if m := limit.FindStringSubmatch(name); m != nil {
			if n, err := strconv.ParseFloat(value, 64); err == nil {
				out[m[1]] = n
			}
		}
	}
	return out
}

// rewrites reports whether a command is that of a check without the option by which it only looks: a formatter that cannot
// fail, since it puts everything right.
func (r Run) rewrites(check string) bool {
	return !shell.RunsTarget(strings.TrimPrefix(r.command(), "npx ")) && slices.Contains(formatters, check) &&
		len(fewer(strings.Fields(check), r.Args)) == 0
}
