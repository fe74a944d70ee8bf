package author_test

import (
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"touchstone/agent/author"
	"touchstone/agent/e2e/loopback"
	"touchstone/verdict"
)

// TestFixHasTheParentsThatThisProgramChose checks that a session decides nothing about the history that is pushed.
func TestFixHasTheParentsThatThisProgramChose(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		base string // what the base makes of the file that the branch changes
		git  []string
		says string
	}{
		"the merge is ended": {"theirs()\n", []string{"merge", "--quit"}, "it ended the merge"},
		"another is begun":   {"", []string{"merge", "--quiet", "--no-commit", "--no-ff", "--strategy=ours"}, "it began a merge"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := loopback.New(t, map[string]string{"code.txt": "begin()\n"})
			g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
			ref := g.Open("topic")
			if tc.base != "" {
				g.Commit("main", "Move on", map[string]string{"code.txt": tc.base})
			}
			pr := g.Reviewed(ref, verdict.RequestChanges, finding)
			a := newAuthor(g, func(r loopback.Asked) (string, error) {
				git := func(args ...string) (string, error) {
					cmd := exec.Command("git", append([]string{"-c", "user.name=m", "-c", "user.email=m@example.com"}, args...)...)
					cmd.Dir = r.Dir
					out, err := cmd.Output()
					return strings.TrimSpace(string(out)), err
				}
				if tc.base == "" {
					other, err := git("commit-tree", "-p", "HEAD", "-m", "mine", "HEAD^{tree}")
					if err != nil {
						return "", err
					}
					tc.git = append(tc.git[:5:5], other)
				}
				_, _ = git(tc.git...) // the second time, git says that this is done already
				return write("Done.", map[string]string{"code.txt": "safe()\n"})(r)
			})
			if _, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil); !errors.Is(err, author.ErrForbidden) ||
				!strings.Contains(err.Error(), tc.says) {
				t.Errorf("it ends in %v", err)
			}
			if g.Read(loopback.Author, ref).Head.SHA != pr.Head.SHA {
				t.Error("something was pushed")
			}
		})
	}
}

// TestFixBringsAStashedMergeBack by what the session is told once it has stashed the merge that it concludes.
func TestFixBringsAStashedMergeBack(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"code.txt": "begin()\n", "other.txt": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	ref := g.Open("topic")
	g.Commit("main", "Move on", map[string]string{"code.txt": "theirs()\n", "other.txt": "two\n"})
	pr := g.Reviewed(ref, verdict.RequestChanges, finding)
	advice := regexp.MustCompile("`git (stash pop|update-ref MERGE_HEAD [0-9a-f]{40})`")
	turns, dir := 0, ""
	a := newAuthor(g, func(r loopback.Asked) (string, error) {
		git := func(args ...string) error {
			cmd := exec.Command("git", append([]string{"-c", "user.name=m", "-c", "user.email=m@example.com"}, args...)...)
			cmd.Dir = r.Dir
			return cmd.Run()
		}
		dir = r.Dir
		if turns++; turns == 1 {
			text, err := write("Done.", map[string]string{"code.txt": "safe()\n"})(r)
			return text, errors.Join(err, git("add", "."), git("stash"))
		}
		for _, command := range advice.FindAllStringSubmatch(r.Prompt, -1) {
			if err := git(strings.Fields(command[1])...); err != nil {
				return "", err
			}
		}
		return "Done.", nil
	})
	out, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil)
	if err != nil || turns != 2 {
		t.Fatalf("%d turns, %v", turns, err)
	}
	for want, args := range map[string][]string{
		pr.Head.SHA + " " + pr.Base.SHA: {"show", "--no-patch", "--format=%P", out.Head},
		"code.txt":                      {"diff", "--name-only", pr.Base.SHA, out.Head},
	} {
		got, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
		if err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("git %s prints %q, %v", args[0], got, err)
		}
	}
}
