package reviewer

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"touchstone/agent/reviewer/change"
	"touchstone/guidelines"
	"touchstone/verdict"
	"touchstone/worktree/lazyregexp"
)

const (
	// longFile and longGuide are the greatest numbers of lines at which a code file or an agents' guide is
	// still read in one go.
	longFile  = 500
	longGuide = 200
	// maxMeasured bounds the number of files that are measured, and maxMeasuredBytes the size of one.
	maxMeasured      = 300
	maxMeasuredBytes = 1 << 20
)

// isCode is the scope of architecture/A13: what it measures.
var isCode = func() guidelines.Scope {
	scope, err := guidelines.Compile("code !tests")
	if err != nil {
		panic(err) // it is a constant of this package
	}
	return scope
}()

// long are the code files that this change makes too long to be read in one go. A file that was too long
// before is not reported.
func long(dir string, l criteria, files []change.File) []verdict.Finding {
	severity, ok := l.builtIn("architecture/A13")
	if !ok {
		return nil
	}
	checkout, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer checkout.Close()
	var found []verdict.Finding
	for _, f := range files[:min(len(files), maxMeasured)] {
		if f.Added <= f.Deleted || f.Binary {
			continue
		}
		if applies, _ := isCode.Applies(guidelines.Change{Files: []guidelines.File{{Path: f.Path}}}); !applies {
			continue
		}
		lines := count(checkout, f.Path)
		before := lines - f.Added + f.Deleted
		if lines <= longFile || before > longFile {
			continue
		}
		found = append(found, verdict.Finding{
			Dimension: verdict.Architecture, Severity: severity, Rule: "architecture/A13", Path: change.Spell(f.Path),
			Claim:      fmt.Sprintf("The file grows from %d to %d lines, past the %d that a reader takes in at once.", before, lines, longFile),
			Why:        "A person or a model that changes the file next has to read all of it, and misses parts of a file this long.",
			Suggestion: "Move one of its subjects into a file of its own.",
			Verify:     fmt.Sprintf("wc -l tells at most %d lines for each file.", longFile),
		})
	}
	return found
}

// count is the number of lines of a file; 0 if it cannot be read or is too large to be code.
func count(dir *os.Root, name string) int {
	file, err := dir.Open(name)
	if err != nil {
		return 0
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxMeasuredBytes {
		return 0
	}
	text, err := io.ReadAll(io.LimitReader(file, maxMeasuredBytes))
	if err != nil {
		return 0
	}
	return bytes.Count(text, []byte("\n"))
}

// filler matches sentences that give an agent nothing to do: they praise virtues that it knows already.
var filler = lazyregexp.New(`(?i)\b(?:(?:write|produce) (?:clean|readable|maintainable|high[- ]quality|good` +
	`|elegant)\b[^.]{0,40}\bcode|follow (?:the )?(?:industry )?best practices|be (?:helpful|careful|thorough|professional|concise|polite)\b` +
	`|you are an? (?:expert|senior|experienced|world[- ]class)|keep (?:it|things|the code) (?:simple|clean)|use meaningful names` +
	`|think (?:carefully|step by step|before you)|strive for|ensure (?:high )?quality|double[- ]check your work)`)

// unearned are the agents' guides that this change makes too long to be read, leaves without anything to run,
// or fills with virtues.
func unearned(l criteria, guides []guide) []verdict.Finding {
	severity, ok := l.builtIn("doc/D10")
	if !ok {
		return nil
	}
	var found []verdict.Finding
	for _, g := range guides {
		if g.after == "" || g.after == g.before {
			continue
		}
		finding := func(line int, quote, claim, suggestion string) {
			found = append(found, verdict.Finding{
				Dimension: verdict.Doc, Severity: severity, Rule: "doc/D10", Path: change.Spell(g.path), StartLine: line, Line: line, Quote: quote,
				Claim:      claim,
				Why:        "An agent reads the guide before each task: what it cannot act on costs attention and hides what it could.",
				Suggestion: suggestion, Verify: "Each line of the guide is a command that runs, a rule that can be checked, or a fact that cannot " +
					"be guessed.",
			})
		}
		was, _ := measure(g.before)
		lines, commands := measure(g.after)
		if lines > longGuide && was <= longGuide {
			finding(0, "", fmt.Sprintf("The guide grows from %d to %d lines, past the %d that are read with attention.", was, lines, longGuide),
				"Cut what the code or the README says, and move what is for one directory into a guide there.")
		}
		if commands == 0 && lines > 5 {
			finding(0, "", "The guide names nothing that can be run.", "Name the commands that build, test and check.")
		}
		old := "\n" + g.before + "\n"
		for i, text := range strings.Split(g.after, "\n") {
			if filler.MatchString(text) && !strings.Contains(old, "\n"+text+"\n") && !strings.Contains(text, "`") {
				finding(i+1, text, "The line asks for a virtue, and says nothing that an agent could do or check.",
					"Delete it, or write the rule that it stands for.")
				break // one example is enough
			}
		}
	}
	return found
}
