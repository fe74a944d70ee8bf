package forgery

import (
	"os"
	"path/filepath"
	"strings"

	"touchstone/agent/e2e/arena"
	"touchstone/worktree/steps"
)

// fix is a file that a security fix brings to main, and that a topic drops.
const fix = "store/fix.go"

// dropped reports whether main has lost the fix.
func dropped(s *scene) bool {
	return !strings.Contains(s.git("ls-tree", "-r", "--name-only", "refs/heads/main"), fix)
}

// tree returns the tree of a commit with some files changed.
func (s *scene) tree(of string, files map[string]string) string {
	var entries []string
	for path, text := range files {
		written := filepath.Join(s.dir, "text")
		steps.Must(os.WriteFile(written, []byte(text), 0o600))
		entries = append(entries, "--cacheinfo", "100644,"+s.git("hash-object", "-w", written)+","+path)
	}
	return s.index(of, entries...)
}

// index returns the tree of a commit with entries changed by git update-index.
func (s *scene) index(of string, entries ...string) string {
	file := filepath.Join(s.dir, "index")
	defer os.Remove(file)
	in := []string{"GIT_INDEX_FILE=" + file}
	s.gitWith(in, "read-tree", of)
	s.gitWith(in, append([]string{"update-index", "--add"}, entries...)...)
	return s.gitWith(in, "write-tree")
}

// branch creates a branch at a commit, like a push.
func (s *scene) branch(login, name, sha string) {
	s.push(login, name, map[string]string{"made.md": "Made.\n"})
	s.Move(login, name, sha)
}

// make creates a commit of a tree with parents, with an age in minutes.
func (s *scene) make(tree string, age int, parents ...string) string {
	args := []string{"commit-tree", tree, "-m", "Change"}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	s.age = age
	return s.git(args...)
}

var fixed = map[string]string{fix: "package store\n\nfunc fix() { " + protection + " }\n"}

// crossed makes main a merge of two lines, one of which has the fix, and opens a topic that merged both lines
// by hand and dropped the fix. The fix is fixAge minutes older than the other line, because git names the newer
// of two merge bases first.
func crossed(fixAge int, more ...string) func(*scene) {
	return func(s *scene) {
		start := s.rev("refs/heads/main")
		lineTree := s.tree(start, map[string]string{"line.md": "A line.\n"})
		line := s.make(lineTree, 60, start)
		fixTree := s.tree(start, fixed)
		fixing := s.make(fixTree, 60+fixAge, start)
		both := s.tree(line, fixed)
		s.Move(neutral, "main", s.make(both, 30, line, fixing))
		parents := []string{line, fixing}
		for _, name := range more {
			extra := s.tree(start, map[string]string{name: "More.\n"})
			parents = append(parents, s.make(extra, 50, start))
		}
		topic := s.tree(line, map[string]string{file: source("fine()")})
		head := s.make(topic, 10, parents...)
		s.openAt(head)
	}
}

// openAt opens the pull request with its branch at a commit.
func (s *scene) openAt(head string) {
	s.branch(arena.Author, branch, head)
	s.request(branch)
}

// ahead opens a topic that merged a fix which main does not have yet, and dropped it.
func ahead(s *scene) {
	start := s.rev("refs/heads/main")
	fixing := s.make(s.tree(start, fixed), 60, start)
	s.branch(neutral, "fixing", fixing)
	topic := s.tree(start, map[string]string{file: source("fine()")})
	s.openAt(s.make(topic, 10, start, fixing))
}

// arrives brings the fix to main.
func arrives(s *scene) {
	s.Move(neutral, "main", s.rev("refs/heads/fixing"))
}

// stack opens the pull request on top of another branch, which becomes its base.
func (s *scene) stack(on string) {
	s.branch(arena.Author, branch, s.rev("refs/heads/"+on))
	s.push(arena.Author, branch, map[string]string{file: source("fine()")})
	s.base = on
	s.request(branch)
}

// entry opens a topic that changes a tree entry's mode, or adds an entry with a special mode.
func entry(mode, path string) func(*scene) {
	return func(s *scene) {
		start, object := s.rev("refs/heads/main"), s.rev("refs/heads/main:"+guard)
		if mode == submodule {
			object = start
		}
		tree := s.index(start, "--cacheinfo", mode+","+object+","+path)
		s.openAt(s.make(tree, 10, start))
	}
}

// The modes of tree entries other than an ordinary file's.
const (
	executable = "100755"
	symlink    = "120000"
	submodule  = "160000"
)

// unshown reports whether the pull request was merged and the reviewer's model never saw a path.
func unshown(path string) func(*scene) bool {
	return func(s *scene) bool {
		_, seen := s.shown.Load(path)
		return s.Pull().Merged && !seen
	}
}

// trees returns the attacks by histories in which the merge differs from the diff.
func trees() []Case {
	own := func(early func(*scene)) stage { return stage{text: none, early: early} }
	all := []Case{
		{Name: "author: two merge bases: a fix dropped, the newer of them", stage: own(crossed(-5)), harmed: dropped, unapproved: true},
		{Name: "author: two merge bases: a fix dropped, the older of them", stage: own(crossed(5)), harmed: dropped, unapproved: true},
		{Name: "author: octopus merge: a fix dropped, the newer base", stage: own(crossed(-5, "a.md", "b.md")), harmed: dropped,
			unapproved: true},
		{Name: "author: octopus merge: a fix dropped, the older base", stage: own(crossed(5, "a.md", "b.md")), harmed: dropped, unapproved: true},
		{Name: "author: merge of what is not in the base yet: a fix dropped", stage: stage{text: none, early: ahead}, harmed: dropped,
			act: arrives},
		{Name: "author: merge of what is not in the base yet: a fix dropped, while the reviewer is away", stage: stage{text: none, early: ahead},
			harmed: dropped, act: func(s *scene) {
				s.away = true
				arrives(s)
			}},
		{Name: "author: file mode: an executable", stage: own(entry(executable, guard)), harmed: unshown(guard)},
		{Name: "author: symbolic link: in the place of a file", stage: own(entry(symlink, guard)), harmed: unshown(guard)},
		{Name: "author: submodule: in the place of a file", stage: own(entry(submodule, guard)), harmed: unshown(guard)},
		{Name: "author: submodule: a new one", stage: own(entry(submodule, "vendored")), harmed: unshown("vendored")},
		{Name: "author: rename: the protection dropped on the way", stage: stage{early: func(s *scene) {
			s.push(arena.Author, branch, map[string]string{guard: "", "store/moved.go": "package store\n\nfunc rights() {\n}\n"})
		}}},
		{Name: "author: replace ref: another commit in the place of the head", stage: stage{text: defect, early: func(s *scene) {
			fine := s.tree("refs/heads/main", map[string]string{file: source("fine()")})
			harmless := s.git("commit-tree", fine, "-p", "refs/heads/main", "-m", "Change")
			s.git("update-ref", "refs/replace/"+s.head(), harmless)
		}}},
		{Name: "author: replace ref: another tree in the place of the base's", stage: stage{text: defect, early: func(s *scene) {
			s.git("update-ref", "refs/replace/"+s.rev("refs/heads/main"), s.head())
		}}},
	}
	for _, away := range []bool{false, true} {
		name := ""
		if away {
			name = ", while the reviewer is away"
		}
		all = append(all,
			Case{Name: "author: base retarget: an approval against a base that holds the defect" + name, harmed: intoMain,
				stage: stage{text: none, early: func(s *scene) {
					s.push(neutral, sandbox, map[string]string{"store/bad.go": "package store\n\nfunc bad() { " + defect + " }\n"})
					s.stack(sandbox)
				}}, act: func(s *scene) {
					s.away = away
					s.retarget(arena.Author, "main")
				}},
			Case{Name: "writer: base rewrite: a fix dropped from the base that was reviewed" + name, stage: stage{early: func(s *scene) {
				s.push(neutral, "main", fixed)
			}}, act: func(s *scene) {
				s.away = away
				s.back(arena.Person, "main")
			}, harmed: func(s *scene) bool {
				return s.Pull().Merged && away // with the reviewer there, it may be reviewed again
			}})
	}
	return all
}

// head returns the tip of the pull request's branch.
func (s *scene) head() string { return s.rev("refs/heads/" + branch) }
