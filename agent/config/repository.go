package config

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"touchstone/guidelines"
	"touchstone/worktree/strictyaml"
)

// RepositoryPath is where a repository keeps its settings, always read from the base
// branch, so that no change can relax what it is judged by.
const RepositoryPath = ".touchstone/config.yaml"

// RepositoryExample is an annotated file for RepositoryPath: every key with its default.
//
//go:embed repository.example.yaml
var RepositoryExample string

// Repository is what a repository decides for all agents that look after it.
type Repository struct {
	Review RepositoryReview `yaml:"review"`
	Verify RepositoryVerify `yaml:"verify"`
	Merge  RepositoryMerge  `yaml:"merge"`
}

// RepositoryReview says how the repository's changes are read.
type RepositoryReview struct {
	// Sensitive are files of which any change is reviewed in full depth, besides those
	// that always are. None by default.
	Sensitive Scope `yaml:"sensitive"`
	// Skip are files that programs wrote and no session is shown, besides those that are
	// recognised as such. None by default.
	Skip Scope `yaml:"skip"`
	// Ratchet is to let minor findings pass that an earlier round could have reported: on
	// code that no round has changed since. False by default.
	Ratchet bool `yaml:"ratchet"`
	// Check says which findings another session has to uphold before they block: Off,
	// CheckCritical, the default, or CheckBlocking.
	Check string `yaml:"check"`
	// Strategy is StrategySession, the default, to have one session walk all nine dimensions, or
	// StrategySpecialists to have three of them walk a part each before that.
	Strategy string `yaml:"strategy"`
}

// Values of RepositoryReview.Strategy.
const (
	StrategySession     = "session"
	StrategySpecialists = "specialists"
)

// Values of RepositoryReview.Check besides Off.
const (
	// CheckCritical is for the critical ones.
	CheckCritical = "critical"
	// CheckBlocking is for all that block.
	CheckBlocking = "blocking"
)

// RepositoryVerify says how a fix is checked before it is pushed.
type RepositoryVerify struct {
	// Command is a program and its arguments, run at the repository's root. None by default.
	Command []string `yaml:"command"`
	// Timeout bounds it; 10m by default.
	Timeout Duration `yaml:"timeout"`
	// Reports are patterns of the JUnit reports that it writes, from the repository's root with *, ?,
	// [a-z], {a,b} and **. None by default.
	Reports []string `yaml:"reports"`
}

// RepositoryMerge says which approved changes may be merged without their author.
type RepositoryMerge struct {
	// Auto is to merge what is approved and green; true by default. An agent merges only
	// where its own configuration says so too.
	Auto bool `yaml:"auto"`
	// Manual are files whose changes wait for their author to merge them. None by default.
	Manual Scope `yaml:"manual"`
	// Checks are the names of the checks that have to pass; no other counts then. None by
	// default: those that the base branch requires, and if it requires none, all.
	Checks []string `yaml:"checks"`
}

// Scope is a list of scopes in the grammar of the guidelines' tables, such as
// [payments/**, migration]; it is about what any of them is about. The zero Scope is about
// nothing.
type Scope struct{ guidelines.Scope }

// UnmarshalYAML reads a list of scopes, and names the one that cannot be decided.
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

// maxVerify bounds verify.timeout: a pull request's worker does nothing else meanwhile.
const maxVerify = Duration(2 * time.Hour)

// maxReports bounds the patterns of verify.reports.
const maxReports = 20

// DefaultRepository is what holds in a repository that says nothing.
func DefaultRepository() Repository {
	return Repository{
		Review: RepositoryReview{Check: CheckCritical, Strategy: StrategySession},
		Verify: RepositoryVerify{Timeout: Duration(10 * time.Minute)},
		Merge:  RepositoryMerge{Auto: true},
	}
}

// repositoryKeys are all that a repository's file may hold.
const repositoryKeys = "review.sensitive, review.skip, review.ratchet, review.check, review.strategy, verify.command, verify.timeout, " +
	"verify.reports, merge.auto, merge.manual and merge.checks"

// ParseRepository reads the content of a repository's RepositoryPath: at most 64 KiB.
// An unknown key is an error that names it, and after an error callers must review and merge
// nothing: what the file was meant to forbid is not known.
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

func (r Repository) validate() error {
	errs := []error{oneOf("review.check", r.Review.Check, Off, CheckCritical, CheckBlocking),
		oneOf("review.strategy", r.Review.Strategy, StrategySession, StrategySpecialists)}
	if r.Verify.Timeout <= 0 || r.Verify.Timeout > maxVerify {
		errs = append(errs, fmt.Errorf("verify.timeout is %s; it has to be longer than nothing and at most %s", r.Verify.Timeout, maxVerify))
	}
	if slices.ContainsFunc(r.Verify.Command, func(arg string) bool { return strings.Contains(arg, "\x00") }) ||
		len(r.Verify.Command) > 0 && r.Verify.Command[0] == "" {
		errs = append(errs, errors.New("verify.command has to begin with a program, such as [make, test]"))
	}
	if len(r.Verify.Reports) > 0 && len(r.Verify.Command) == 0 {
		errs = append(errs, errors.New("verify.reports names what verify.command writes, and there is no command"))
	}
	for _, pattern := range r.Verify.Reports {
		if !fs.ValidPath(pattern) || !doublestar.ValidatePattern(pattern) || len(r.Verify.Reports) > maxReports {
			errs = append(errs, fmt.Errorf("verify.reports has %.80q; it takes at most %d patterns of paths from the repository's root, such as "+
				"build/**/*.xml", pattern, maxReports))
			break
		}
	}
	if slices.ContainsFunc(r.Merge.Checks, func(name string) bool { return strings.TrimSpace(name) == "" }) {
		errs = append(errs, errors.New("merge.checks names a check without a name"))
	}
	if slices.ContainsFunc(r.Merge.Checks, func(name string) bool { return strings.HasPrefix(strings.ToLower(name), "touchstone/") }) {
		errs = append(errs, errors.New("merge.checks names a status that the agents write themselves; name the checks of CI"))
	}
	return errors.Join(errs...)
}
