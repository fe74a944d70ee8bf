package config

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"touchstone/guidelines"
	"touchstone/verdict"
	"touchstone/worktree/strictyaml"
)

// RepositoryPath is the path of a repository's settings, always read from the base branch, so that no change
// can relax the rules by which it is judged.
const RepositoryPath = RepositoryDir + "/config.yaml"

// RepositoryDir is the directory of a repository's settings and guideline documents.
const RepositoryDir = ".touchstone"

// RepositoryExample is an annotated file for RepositoryPath: every key with its default.
//
//go:embed repository.example.yaml
var RepositoryExample string

// Repository holds the settings that a repository makes for all agents that work on it.
type Repository struct {
	Review RepositoryReview `yaml:"review"`
	Verify RepositoryVerify `yaml:"verify"`
	Merge  RepositoryMerge  `yaml:"merge"`
}

// RepositoryReview holds the settings for reviews of the repository's changes.
type RepositoryReview struct {
	// Sensitive are files whose changes are always reviewed in full depth, besides those that always are.
	// None by default.
	Sensitive Scope `yaml:"sensitive"`
	// Skip are generated files that no session is shown, besides those that are recognised as such. None by
	// default.
	Skip Scope `yaml:"skip"`
	// Ratchet lets minor findings pass that an earlier round could have reported: those on code that no round
	// has changed since. False by default.
	Ratchet bool `yaml:"ratchet"`
	// Check says which findings another session must confirm before they block: Off, CheckCritical, the
	// default, or CheckBlocking. Unless it is Off, such a session also reads the text of an approval.
	Check string `yaml:"check"`
	// Strategy is StrategySession, the default, in which one session covers all dimensions, or
	// StrategySpecialists, in which three sessions each cover a part before that.
	Strategy string `yaml:"strategy"`
}

// Values of RepositoryReview.Strategy.
const (
	StrategySession     = "session"
	StrategySpecialists = "specialists"
)

// Values of RepositoryReview.Check besides Off.
const (
	// CheckCritical is for the critical findings.
	CheckCritical = "critical"
	// CheckBlocking is for all blocking findings.
	CheckBlocking = "blocking"
)

// RepositoryVerify says how a fix is verified before it is pushed.
type RepositoryVerify struct {
	// Command is a program and its arguments, run at the repository's root. None by default.
	Command []string `yaml:"command"`
	// Timeout is the maximum time of the command; 10m by default.
	Timeout Duration `yaml:"timeout"`
	// Reports are patterns of the JUnit reports that the command writes, relative to the repository's root,
	// with *, ?, [a-z], {a,b} and **. None by default.
	Reports []string `yaml:"reports"`
}

// RepositoryMerge says which approved changes may be merged without their author.
type RepositoryMerge struct {
	// Auto merges pull requests that are approved and whose checks pass; true by default. An agent merges
	// only if its own configuration allows it too.
	Auto bool `yaml:"auto"`
	// Manual are files whose changes wait for their author to merge them. None by default.
	Manual Scope `yaml:"manual"`
	// Checks are the names of the checks that must pass; then no other check counts. By default there are
	// none: the checks that the base branch requires count, or all checks if it requires none.
	Checks []string `yaml:"checks"`
}

// Scope is a list of scopes in the grammar of the guidelines' tables, such as [payments/**, migration]. It
// covers what any of them covers; the zero Scope covers nothing.
type Scope struct{ guidelines.Scope }

// UnmarshalYAML reads a list of scopes. Its error names the scope that cannot be decided.
func (s *Scope) UnmarshalYAML(decode func(any) error) error {
	var list []string
	if err := decode(&list); err != nil || len(list) == 0 {
		return err
	}
	for _, one := range list {
		if _, err := guidelines.Compile(one); err != nil {
			return fmt.Errorf("the scope %.120q: %w", one, err)
		}
	}
	all, err := guidelines.Compile(strings.Join(list, ", "))
	s.Scope = all
	return err
}

// maxVerify is the maximum of verify.timeout: a pull request's worker does nothing else in that time.
const maxVerify = Duration(2 * time.Hour)

// maxReports is the maximum number of patterns in verify.reports.
const maxReports = 20

// These bound a pattern in verify.reports: the library searches for each combination of the words in its braces, and
// of the directories that its ** stand for.
const (
	maxPattern = 200
	maxBraces  = 3
)

// DefaultRepository returns the settings of a repository that makes none.
func DefaultRepository() Repository {
	return Repository{
		Review: RepositoryReview{Check: CheckCritical, Strategy: StrategySession},
		Verify: RepositoryVerify{Timeout: Duration(10 * time.Minute)},
		Merge:  RepositoryMerge{Auto: true},
	}
}

// repositoryKeys are all keys that a repository's file may contain.
const repositoryKeys = "review.sensitive, review.skip, review.ratchet, review.check, review.strategy, verify.command, verify.timeout, " +
	"verify.reports, merge.auto, merge.manual and merge.checks"

// ParseRepository reads the content of a repository's RepositoryPath, at most 64 KiB. An unknown key is an
// error that names the key. After an error, callers must neither review nor merge, since what the file was
// meant to forbid is unknown.
func ParseRepository(content []byte) (Repository, error) {
	r := DefaultRepository()
	if len(content) > maxFile {
		return r, fmt.Errorf("read %s: it is longer than %d bytes; shorten it on the base branch", RepositoryPath, maxFile)
	}
	if err := strictyaml.Decode(content, &r); err != nil {
		return r, fmt.Errorf("read %s: %w; correct it on the base branch: its keys are %s", RepositoryPath, err, repositoryKeys)
	}
	if err := r.validate(); err != nil {
		return r, fmt.Errorf("read %s: %w; correct it on the base branch", RepositoryPath, err)
	}
	return r, nil
}

// Tree reads the files of a repository's commits.
type Tree interface {
	ReadFile(ctx context.Context, rev, name string) ([]byte, error)
	// ReadDir returns the names in a directory; those of directories and submodules end in a slash.
	ReadDir(ctx context.Context, rev, dir string) ([]string, error)
}

// ReadRepository reads a repository's settings at rev, a commit of its base branch.
func ReadRepository(ctx context.Context, tree Tree, rev string) (Repository, error) {
	text, err := tree.ReadFile(ctx, rev, RepositoryPath)
	if errors.Is(err, fs.ErrNotExist) {
		if err = RequireDir(ctx, tree, rev, RepositoryDir); err == nil {
			return DefaultRepository(), nil
		}
	}
	if err != nil {
		return Repository{}, fmt.Errorf("read the repository's settings on its base branch: %w", err)
	}
	r, err := ParseRepository(text)
	if err != nil {
		return r, fmt.Errorf("the repository's settings are invalid: %w", err)
	}
	return r, nil
}

// RequireDir returns an error if a commit has something other than a directory at dir or above it: files below
// a symbolic link or in a submodule look absent, although its owners see them in a checkout. It is no error
// if there is nothing at dir.
func RequireDir(ctx context.Context, tree Tree, rev, dir string) error {
	parent, name := path.Dir(dir), path.Base(dir)
	if parent != "." {
		if err := RequireDir(ctx, tree, rev, parent); err != nil {
			return err
		}
	}
	names, err := tree.ReadDir(ctx, rev, parent)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if slices.Contains(names, name+"/") {
		_, err = tree.ReadDir(ctx, rev, dir) // not found for a submodule
	}
	if slices.Contains(names, name) || errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is a symbolic link, a file or a submodule, so nothing in it can be read; make it a directory on the base branch",
			dir)
	}
	return err
}

func (r Repository) validate() error {
	errs := []error{oneOf("review.check", r.Review.Check, Off, CheckCritical, CheckBlocking),
		oneOf("review.strategy", r.Review.Strategy, StrategySession, StrategySpecialists)}
	if r.Verify.Timeout <= 0 || r.Verify.Timeout > maxVerify {
		errs = append(errs, fmt.Errorf("verify.timeout is %s; it must be more than 0s and at most %s", r.Verify.Timeout, maxVerify))
	}
	if slices.ContainsFunc(r.Verify.Command, func(arg string) bool { return strings.Contains(arg, "\x00") }) ||
		len(r.Verify.Command) > 0 && r.Verify.Command[0] == "" {
		errs = append(errs, errors.New("verify.command must begin with a program, such as [make, test], and cannot contain a NUL"))
	}
	if len(r.Verify.Reports) > 0 && len(r.Verify.Command) == 0 {
		errs = append(errs, errors.New("verify.reports needs a verify.command that writes the reports; set it, or leave verify.reports out"))
	}
	for _, pattern := range r.Verify.Reports {
		if !fs.ValidPath(pattern) || !doublestar.ValidatePattern(pattern) || len(r.Verify.Reports) > maxReports ||
			len(pattern) > maxPattern || max(strings.Count(pattern, "{"), strings.Count(pattern, "**")) > maxBraces {
			errs = append(errs, fmt.Errorf("verify.reports has %.80q; it takes at most %d patterns of paths relative to the repository's root, "+
				"such as build/**/*.xml, of at most %d characters and with at most %d times {a,b} and **", pattern, maxReports, maxPattern, maxBraces))
			break
		}
	}
	if slices.ContainsFunc(r.Merge.Checks, func(name string) bool { return strings.TrimSpace(name) == "" }) {
		errs = append(errs, errors.New("merge.checks has an empty name; write the name of a check"))
	}
	if slices.ContainsFunc(r.Merge.Checks, func(name string) bool { return strings.HasPrefix(strings.ToLower(name), verdict.OwnStatuses) }) {
		errs = append(errs, errors.New("merge.checks has a status that the agents write themselves; name only checks of CI"))
	}
	return errors.Join(errs...)
}
