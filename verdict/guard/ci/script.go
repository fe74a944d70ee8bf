package ci

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/doc"
	"touchstone/verdict/guard/shell"
)

// scripts compares what the targets and package scripts of a change check, as if each were a job. No pipeline
// is known to run them, so all findings are evidence.
func scripts(files []change.File) []change.Finding {
	var changed []change.File
	for _, f := range files {
		defines := func(name string) bool { return shell.IsProject(name) || shell.ListsTasks(name) }
		if string(f.Before) != string(f.After) && (defines(f.OldPath) || defines(f.Path)) {
			changed = append(changed, f)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	of := func(content func(change.File) (string, []byte)) side {
		s := side{jobs: map[string]Job{}}
		for _, f := range changed {
			name, text := content(f)
			if text == nil {
				continue
			}
			targets := shell.NewProject(map[string][]byte{name: text}).Targets()
			for _, target := range slices.Sorted(maps.Keys(targets)) {
				s.jobs[f.Name()+"\x00"+target] = Job{}
				_, named := (shell.Command{Args: []string{"make", target}}).Check()
				for _, c := range targets[target] {
					r := Run{Path: f.Name(), Job: target, Strength: Always, Args: c.Args, Line: 1}
					if check, is := c.Check(); is {
						if r.Check, r.Guessed = check.Name, true; c.Lost {
							r.Strength = Never
						}
						s.runs = append(s.runs, r)
					} else if named && !c.Idle() {
						s.others = append(s.others, r)
					}
				}
			}
		}
		return s
	}
	c := comparison{seen: map[string]bool{},
		before: of(func(f change.File) (string, []byte) { return f.OldPath, f.Before }),
		after:  of(func(f change.File) (string, []byte) { return f.Path, f.After })}
	c.eachCheck()
	c.options()
	c.recipes()
	for i := range c.found {
		c.found[i].Tier = change.Evidence
	}
	return c.found
}

// ends matches a line of Python, JavaScript, Ruby or Perl, outside of any block, with which a program ends with success.
var ends = regexp.MustCompile(
	`(?m)^(?:(?:sys\.|process\.)?exit(?:\s*\(\s*0?\s*\)| +0)?|os\._exit\s*\(\s*0\s*\)|raise SystemExit(?:\s*\(\s*0?\s*\))?)[;\s]*$`)

// declares matches a line that does nothing by itself, as those of functions, which may stand behind the end of a program.
var declares = regexp.MustCompile(`^(?:$|[\s}\])#/=]|(?:(?:async +)?function|def|sub|class|end|__END__)\b)`)

// fails matches what ends a program of those languages with a failure, or may.
var fails = regexp.MustCompile(`\bexit!?\s*\(\s*[^)\s0]|\bexit!?\s+[1-9]|\bexitCode\s*=\s*[^0\s;]|\b(?:raise|throw|abort|die|assert)\b|` +
	`\breturn\s+1\b`)

// remark matches the lines of a program, or of a script, that are comments.
var remark = regexp.MustCompile(`(?m)^\s*(?:#|//).*`)

// failing counts where a program may end with a failure.
func failing(content []byte) int { return len(fails.FindAll(remark.ReplaceAll(content, nil), -1)) }

// isProgram reports whether a file is a program in one of those languages.
func isProgram(name string) bool {
	return slices.Contains([]string{".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl"}, path.Ext(name))
}

// ended holds a program that a pipeline runs, and that ends now before it does what it did. It names one that can fail in fewer
// places, if no other program of the change can in more.
func (c *comparison) ended() {
	more := sync.OnceValue(func() (n int) {
		for _, f := range c.files {
			if isProgram(f.Name()) && !bytes.Equal(f.Before, f.After) {
				n += failing(f.After) - failing(f.Before)
			}
		}
		return n
	})
	for _, f := range c.files {
		if f.Path != f.OldPath || !isProgram(f.Path) || bytes.Equal(f.Before, f.After) || !c.runs(f.Path) {
			continue
		}
		if at := c.ends(f); at != nil {
			c.add(change.Hold, change.CI, "ended", "A program that a pipeline runs ends with success before it does what it did.",
				change.Place{Path: f.Path, Line: doc.Lines(f.After)(at[0]), After: string(f.After[at[0]:at[1]])})
		} else if was, is := failing(f.Before), failing(f.After); is < was && more() < 0 {
			c.add(change.Evidence, change.CI, "fails-less",
				fmt.Sprintf("A program that a pipeline runs can fail in %d places, and could in %d.", is, was), change.Place{Path: f.Path, Line: 1})
		}
	}
}

// ends returns where a program ends with success before it does what it did, nil if it does not.
func (c *comparison) ends(f change.File) []int {
	at := ends.FindIndex(f.After)
	if at == nil {
		return nil
	}
	does := func(line []byte) bool { return !declares.Match(line) }
	rest, ended := f.After[at[1]:], []byte(nil) // what no longer runs, and what did not before
	if was := ends.FindIndex(f.Before); was != nil {
		ended = f.Before[was[1]:]
	}
	lost := func(from []byte) bool { return bytes.Contains(solid(from), solid(rest)) }
	if !slices.ContainsFunc(bytes.Split(rest, []byte("\n")), does) || !lost(f.Before) || lost(ended) {
		return nil
	}
	return at
}

// runs reports whether a pipeline runs a program.
func (c *comparison) runs(name string) bool {
	return slices.ContainsFunc(slices.Concat(c.after.runs, c.after.others), func(r Run) bool {
		return r.Strength >= Sometimes && slices.ContainsFunc(r.Args, func(a string) bool {
			return path.Ext(a) != "" && strings.HasSuffix("/"+name, "/"+path.Clean(a))
		})
	})
}

// solid is a text without its blanks and line ends.
func solid(text []byte) []byte { return bytes.Join(bytes.Fields(text), nil) }

// recipes finds a target that lost commands and has no new one, if nothing else is found. By its name the target checks
// something.
func (c *comparison) recipes() {
	if len(c.found) > 0 {
		return
	}
	before, after := grouped(c.before.others, Run.job), grouped(c.after.others, Run.job)
	for _, id := range slices.Sorted(maps.Keys(before)) {
		_, there := c.after.jobs[id]
		had, has := commands(before[id]), commands(after[id])
		fresh := func(r Run) bool { return !had[r.command()] }
		gone := func(r Run) bool { return !has[r.command()] }
		name, target, _ := strings.Cut(id, "\x00")
		if i := slices.IndexFunc(before[id], gone); there && i >= 0 && !slices.ContainsFunc(after[id], fresh) {
			c.add(change.Evidence, change.CI, "recipe-shorter", fmt.Sprintf("The target %s runs fewer commands than it did: %d of %d.", target,
				len(after[id]), len(before[id])), change.Place{Path: name, Line: 1, Before: before[id][i].command()})
			return
		}
	}
}

// commands returns the commands of runs.
func commands(runs []Run) map[string]bool {
	all := map[string]bool{}
	for _, r := range runs {
		all[r.command()] = true
	}
	return all
}
