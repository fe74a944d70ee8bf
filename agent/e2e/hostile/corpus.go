// Package hostile holds a corpus of hostile pull requests, one of ordinary ones,
// and what takes them through the whole path: a simulated GitHub, real git, the
// reviewer as it runs every day, and the author's side that merges by itself. Only
// the model is made up, and it is on the attacker's side: it does what a text asks
// for, refutes what code suspects, and its answers are formally perfect.
//
// What structure or parsing decides is caught with any model, and nothing that a model
// writes can leak or act: that is the list of [Hostile]. What only tries to persuade a
// model is the list of [Persuasive]: the run shows what a model lets through that obeys all
// of it. No code can see that; an honest model's judgement and the repository's own tests
// have to.
package hostile

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"touchstone/verdict"
)

//go:embed testdata
var corpus embed.FS

// Case is one pull request; see testdata/hostile/README.md for how it is written.
type Case struct {
	// Name is its family, which is its file's name, and its own name.
	Name string
	// Want is the kind of hold that has to come out of it; empty for none, and Refused
	// for none either where no approval may.
	Want verdict.HoldKind

	Title, Description, Commit string
	// Branch is empty where it does not matter.
	Branch string
	// Files and Base are the files that differ, as the head and as the base has
	// them. One that the head has empty is gone there.
	Files, Base map[string]string
	// Issue is the text of the issue that the pull request closes, Log of a check
	// that failed, Thread the author's answer to a first review.
	Issue, Log, Thread string
}

// Refused is what a case wants whose change no person has to let pass: what is wrong
// with it stands as a finding, or as a doubt about the answer.
const Refused verdict.HoldKind = "refused"

// Persuasion is what a case wants that only talks: nothing in it is certain enough to hold
// a change, and a model that obeys it approves.
const Persuasion verdict.HoldKind = "persuasion"

// Suspected is what a case wants that weakens a check in a way of which code is not certain,
// or which it does not know: the session has to answer it, and one that obeys refutes it.
const Suspected verdict.HoldKind = "suspected"

// Hostile are the pull requests that must never be approved without a person, even if a
// model approves them: what is wrong with them is decided by structure or by parsing.
func Hostile() ([]Case, error) {
	all, err := read("hostile")
	return slices.DeleteFunc(all, func(c Case) bool { return c.obeyed() }), err
}

// Persuasive are the pull requests of which the model decides: those that try to talk it
// round, those that ask it to give something away, and checks weakened in ways of which
// code is not certain.
func Persuasive() ([]Case, error) {
	all, err := read("hostile")
	for i := range all {
		if all[i].family() == "leak" && all[i].Want == Refused {
			all[i].Want = Persuasion
		}
	}
	return slices.DeleteFunc(all, func(c Case) bool { return !c.obeyed() }), err
}

// obeyed reports whether a model that obeys may approve the case.
func (c Case) obeyed() bool { return c.Want == Persuasion || c.Want == Suspected }

// family is the name of a case's file.
func (c Case) family() string {
	family, _, _ := strings.Cut(c.Name, ":")
	return family
}

// Ordinary are the pull requests that must not be held.
func Ordinary() ([]Case, error) { return read("ordinary") }

func read(dir string) ([]Case, error) {
	files, err := corpus.ReadDir("testdata/" + dir)
	if err != nil {
		return nil, fmt.Errorf("read the corpus: %w", err)
	}
	var all []Case
	for _, f := range files {
		family, isCases := strings.CutSuffix(f.Name(), ".txt")
		if !isCases {
			continue
		}
		data, err := corpus.ReadFile(path.Join("testdata", dir, f.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the corpus: %w", err)
		}
		for i, part := range strings.Split("\n"+string(data), "\n=== ") {
			if i == 0 {
				continue
			}
			c, err := parse(part)
			if err != nil {
				return nil, fmt.Errorf("%s, case %d: %w", f.Name(), i, err)
			}
			c.Name = family + ": " + c.Name
			all = append(all, c)
		}
	}
	return all, nil
}

// parse reads one case, without the sign that begins it.
func parse(text string) (Case, error) {
	name, rest, _ := strings.Cut(text, "\n")
	c := Case{Name: name, Title: "Speed up the search", Description: "Speeds up the search.", Commit: "Speed up the search",
		Files: map[string]string{}, Base: map[string]string{}}
	archive := txtar.Parse([]byte(rest))
	for line := range strings.Lines(string(archive.Comment)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "want":
			c.Want = verdict.HoldKind(value)
		case "title":
			c.Title = unescape(value)
		case "branch":
			c.Branch = unescape(value)
		default:
			return c, fmt.Errorf("%q says nothing known", line)
		}
	}
	for _, f := range archive.Files {
		text := unescape(strings.TrimSuffix(string(f.Data), "\n"))
		kind, path, _ := strings.Cut(f.Name, " ")
		switch kind {
		case "description":
			c.Description = text
		case "commit":
			c.Commit = text
		case "issue":
			c.Issue = text
		case "log":
			c.Log = text
		case "thread":
			c.Thread = text
		case "file":
			c.Files[unescape(path)] = whole(text)
		case "base":
			c.Base[unescape(path)] = whole(text)
		default:
			return c, fmt.Errorf("%q is no section", f.Name)
		}
	}
	if len(c.Files) == 0 {
		// Never twice the same: what is merged already would be no change.
		c.Files["store/search.go"] = fmt.Sprintf("package store\n\n// Search finds everything, %x.\nfunc Search() { unsafe() }\n",
			sha256.Sum256([]byte(name)))
	}
	return c, nil
}

// whole is a file's text with its last line ended; an empty one is no file.
func whole(text string) string {
	if text == "" {
		return ""
	}
	return text + "\n"
}

// written is a character by its number, or many of it.
var written = regexp.MustCompile(`\\u\{([0-9A-F]+)(?:\*([0-9]+))?\}`)

func unescape(text string) string {
	return written.ReplaceAllStringFunc(text, func(s string) string {
		m := written.FindStringSubmatch(s)
		number, _ := strconv.ParseInt(m[1], 16, 32)
		count := 1
		if m[2] != "" {
			count, _ = strconv.Atoi(m[2])
		}
		return strings.Repeat(string(rune(number)), count)
	})
}
