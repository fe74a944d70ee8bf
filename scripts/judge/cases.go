package main

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"touchstone/guidelines"
	"touchstone/scripts/clones"
	"touchstone/worktree/steps"
	"touchstone/worktree/strictyaml"
)

// known are the cases that come with the program: facts about commits, and no code of theirs.
//
//go:embed cases.yaml
var known []byte

// change is one case: a change of another project's repository, and what a reviewer should say.
type change struct {
	Repository string `yaml:"repository"`
	Commit     string `yaml:"commit"`
	// Direction is forward for the commit as it was merged; revert for undoing it, where the base is the
	// commit without its tests and the head is its parent; or a base, with the commit as the head. An undone
	// fix has a defect, an undone refactoring has none.
	Direction string `yaml:"direction"`
	// Title is the change's title, if the commit's own would reveal the direction.
	Title string `yaml:"title"`
	// Description is the change's description below its title. Without one, Body makes it the commit's
	// message without its trailers.
	Description string `yaml:"description"`
	Body        bool   `yaml:"body"`
	Language    string `yaml:"language"`
	// Defect is what a review has to find; nil for a good change.
	Defect *defect `yaml:"defect"`
}

// defect is a place, what a reviewer should say of it, and the rows of the guidelines that apply to it; a
// finding must cite one of them.
type defect struct {
	Paths []string `yaml:"paths"`
	// Says names the defect. A person compares it with the findings at the place, and no model is told it. It
	// is empty for a defect that nobody has put into words.
	Says sentence `yaml:"says"`
	Rows []string `yaml:"rows"`
}

// maxSentence bounds a sentence, in characters.
const maxSentence = 160

// sentence is one short sentence on one line.
type sentence string

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (s *sentence) UnmarshalYAML(node ast.Node) error {
	text, ok := node.(*ast.StringNode)
	if !ok {
		return strictyaml.At(node, "it takes a sentence")
	}
	switch said := text.Value; {
	case utf8.RuneCountInString(said) > maxSentence:
		return strictyaml.At(node, fmt.Sprintf("a sentence has at most %d characters", maxSentence))
	case strings.TrimSpace(said) != said || !strings.HasSuffix(said, "."):
		return strictyaml.At(node, "a sentence ends with a full stop, and has no space around it")
	case !utf8.ValidString(said) || strings.ContainsFunc(said, func(r rune) bool { return !unicode.IsPrint(r) }):
		return strictyaml.At(node, "a sentence stands on one line and is printable")
	default:
		*s = sentence(said)
		return nil
	}
}

// says returns the sentence that names the change's defect; it is empty if there is none.
func (c change) says() string {
	if c.Defect == nil {
		return ""
	}
	return string(c.Defect.Says)
}

func (c change) id() string { return c.slug() + "-" + c.Commit[:10] }

// blind returns a name of the case for a person who answers by hand. It does not contain the commit, whose
// message would reveal the direction of the change.
func (c change) blind() string {
	return fmt.Sprintf("%s-%.4x", c.slug(), sha256.Sum256([]byte(c.Commit+c.Direction)))
}

func (c change) slug() string { return strings.ReplaceAll(c.Repository, "/", "+") }

// readCases reads a list of cases with strict decoding.
func readCases(file string) ([]change, error) {
	text := known
	if file != "" {
		var err error
		if text, err = os.ReadFile(file); err != nil {
			return nil, err
		}
	}
	var cases []change
	if err := yaml.UnmarshalWithOptions(text, &cases, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("read the cases: %w", err)
	}
	for i, c := range cases {
		if c.Repository == "" || len(c.Commit) < 10 || c.Direction == "" {
			return nil, fmt.Errorf("case %d lacks its repository, its commit (at least 10 characters) or its direction", i+1)
		}
	}
	return cases, nil
}

// checkout makes a clone of a case in dir, whose head is the change, and returns the change's base. from is
// the directory of clones; more are additional files of base and head, by path.
func (c change) checkout(ctx context.Context, from, dir string, more map[string]string) (base string) {
	source := clones.Find(from, c.Repository)
	if source == "" {
		steps.Fail("there is no clone of %s in %s", c.Repository, from)
	}
	clones.Repository{Context: ctx, Dir: "."}.Git(nil, "clone", "--quiet", "--shared", "--no-checkout", source, dir)
	r := clones.Repository{Context: ctx, Dir: dir}
	commit := r.Git(nil, "rev-parse", c.Commit+"^{commit}")
	title, description := c.Title, c.Description
	if title == "" {
		title = r.Git(nil, "log", "-1", "--format=%s", commit)
	}
	if description == "" && c.Body {
		description = ownWords(r.Git(nil, "log", "-1", "--format=%b", commit), title)
	}
	before, after := commit+"^", commit
	switch c.Direction {
	case "forward":
	case "revert":
		before, after = withoutTests(r, commit), commit+"^"
	default:
		before = c.Direction
	}
	base = r.Commit(before, "Base", more)
	head := r.Commit(after, strings.TrimSpace(title+"\n\n"+description), more, base)
	r.Git(nil, "checkout", "--quiet", "--force", "-B", "change", head)
	return base
}

// trailers matches lines at the end of a commit message that are not its author's words about the change.
var trailers = regexp.MustCompile(`(?mi)^([a-z]+(-[a-z]+)+: .*|change-id: .*|\(cherry picked from commit .*\))$\n?`)

// ownWords returns the body of a commit message without trailers, and without the title with which the body
// of a merge begins.
func ownWords(body, title string) string {
	body = strings.TrimSpace(trailers.ReplaceAllString(body+"\n", ""))
	return strings.TrimSpace(strings.TrimPrefix(body, title))
}

// withoutTests returns the tree of a commit without its changes to tests, documents and change logs.
func withoutTests(r clones.Repository, commit string) (tree string) {
	r.Git(nil, "read-tree", commit+"^")
	raw := r.Git(nil, "diff-tree", "-r", "--raw", "--no-renames", "--abbrev=40", "-z", commit+"^", commit)
	fields := strings.Split(raw, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		meta, path := strings.Fields(fields[i]), fields[i+1]
		if len(meta) != 5 || telling(path) {
			continue
		}
		entry := fmt.Sprintf("%s %s\t%s\n", meta[1], meta[3], path)
		if meta[4] == "D" {
			entry = fmt.Sprintf("0 %040d\t%s\n", 0, path)
		}
		r.Git([]byte(entry), "update-index", "--index-info")
	}
	return r.Git(nil, "write-tree", "--missing-ok")
}

// telling reports whether a file would reveal the direction of a change.
func telling(path string) bool {
	scope, err := guidelines.Compile("tests, docs")
	if err != nil {
		return false
	}
	applies, _ := scope.Applies(guidelines.Change{Files: []guidelines.File{{Path: path}}})
	return applies
}
