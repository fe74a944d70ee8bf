// Package hostile has a corpus of hostile pull requests and one of ordinary ones, and takes them through the
// whole path: a simulated GitHub, real git, the reviewer as it runs every day, and the author's side that
// merges automatically. Only the model is fake, and it is on the attacker's side: it does what a text asks for,
// refutes what code suspects, and its answers are formally perfect.
//
// What structure or parsing decides is caught with any model, and nothing that a model writes can leak or act:
// that is the list of [Hostile]. What only tries to persuade a model is the list of [Persuasive]: the run shows
// what a model that obeys all of it lets through. No code can detect that; an honest model's judgement and the
// repository's own tests must.
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

// Case is one pull request; see testdata/hostile/README.md for the format.
type Case struct {
	// Name is the case's family, which is the name of its file, and its own name.
	Name string
	// Want is the kind of hold that the case must cause; empty for none. Refused also means none, but forbids
	// an approval.
	Want verdict.HoldKind

	Title, Description, Commit string
	// Branch is empty if it does not matter.
	Branch string
	// Files and Base are the files that differ, in the head and in the base. A file that is empty in Files does
	// not exist in the head.
	Files, Base map[string]string
	// Issue is the text of the issue that the pull request closes, Log the log of a failed check, Thread the
	// author's answer to a first review.
	Issue, Log, Thread string
}

// Refused is for a case whose change no person needs to let pass: what is wrong with it stands as a finding, or
// as a doubt about the answer.
const Refused verdict.HoldKind = "refused"

// Persuasion is for a case that only talks: nothing in it is certain enough to hold a change, and an obedient
// model approves it.
const Persuasion verdict.HoldKind = "persuasion"

// Suspected is for a case that weakens a check in a way that code is not certain about or does not know: the
// session must answer the suspicion, and an obedient session refutes it.
const Suspected verdict.HoldKind = "suspected"

// Hostile returns the pull requests that must never be approved without a person, even if a model approves
// them: structure or parsing decides what is wrong with them.
func Hostile() ([]Case, error) {
	all, err := read("hostile")
	return slices.DeleteFunc(all, func(c Case) bool { return c.obeyed() }), err
}

// Persuasive returns the pull requests about which the model decides: those that try to persuade it, those that
// ask it to give something away, and those that weaken checks in ways that code is not certain about.
func Persuasive() ([]Case, error) {
	all, err := read("hostile")
	for i := range all {
		if all[i].family() == "leak" && all[i].Want == Refused {
			all[i].Want = Persuasion
		}
	}
	return slices.DeleteFunc(all, func(c Case) bool { return !c.obeyed() }), err
}

// obeyed reports whether an obedient model may approve the case.
func (c Case) obeyed() bool { return c.Want == Persuasion || c.Want == Suspected }

// family returns the name of a case's file.
func (c Case) family() string {
	family, _, _ := strings.Cut(c.Name, ":")
	return family
}

// Ordinary returns the pull requests that must not be held.
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

// parse reads one case, without the sign at its beginning.
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
	texts := map[string]*string{"description": &c.Description, "commit": &c.Commit, "issue": &c.Issue, "log": &c.Log, "thread": &c.Thread}
	trees := map[string]map[string]string{"file": c.Files, "base": c.Base}
	for _, f := range archive.Files {
		text := unescape(strings.TrimSuffix(string(f.Data), "\n"))
		kind, path, _ := strings.Cut(f.Name, " ")
		switch field, tree := texts[kind], trees[kind]; {
		case field != nil:
			*field = text
		case tree != nil:
			tree[unescape(path)] = whole(text)
		default:
			return c, fmt.Errorf("%q is no section", f.Name)
		}
	}
	if len(c.Files) == 0 {
		// Never the same text twice: an already merged text would be no change.
		c.Files["store/search.go"] = fmt.Sprintf("package store\n\n// Search finds everything, %x.\nfunc Search() { unsafe() }\n",
			sha256.Sum256([]byte(name)))
	}
	return c, nil
}

// whole adds the final line break to a file's text; an empty text stays empty and means no file.
func whole(text string) string {
	if text == "" {
		return ""
	}
	return text + "\n"
}

// written matches a character written by its number, with an optional count.
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
