package forgery

import (
	"os"
	"path/filepath"
	"strings"

	"touchstone/agent/e2e/arena"
)

// fix is a file that a security fix brings to main, and that a topic drops.
const fix = "store/fix.go"

// dropped reports whether main has lost the fix.
func dropped(s *scene) (bool, error) {
	files, err := s.git("ls-tree", "-r", "--name-only", "refs/heads/main")
	return !strings.Contains(files, fix), err
}

// tree returns the tree of a commit with some files changed.
func (s *scene) tree(of string, files map[string]string) (string, error) {
	var entries []string
	for path, text := range files {
		written := filepath.Join(s.dir, "text")
		if err := os.WriteFile(written, []byte(text), 0o600); err != nil {
			return "", err
		}
		blob, err := s.git("hash-object", "-w", written)
		if err != nil {
			return "", err
		}
		entries = append(entries, "--cacheinfo", "100644,"+blob+","+path)
	}
	return s.index(of, entries...)
}

// index returns the tree of a commit with entries changed by git update-index.
func (s *scene) index(of string, entries ...string) (string, error) {
	file := filepath.Join(s.dir, "index")
	defer os.Remove(file)
	in := []string{"GIT_INDEX_FILE=" + file}
	_, err := s.gitWith(in, "read-tree", of)
	err = s.then(err, func() error {
		_, err := s.gitWith(in, append([]string{"update-index", "--add"}, entries...)...)
		return err
	})
	if err != nil {
		return "", err
	}
	return s.gitWith(in, "write-tree")
}

// branch creates a branch at a commit, like a push.
func (s *scene) branch(login, name, sha string) error {
	return s.then(s.push(login, name, map[string]string{"made.md": "Made.\n"}), func() error { return s.move(login, name, sha) })
}

// make creates a commit of a tree with parents, with an age in minutes.
func (s *scene) make(tree string, age int, parents ...string) (string, error) {
	args := []string{"commit-tree", tree, "-m", "Change"}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	s.age = age
	return s.git(args...)
}

// history builds commits on top of each other; it stops after an error.
type history struct {
	s   *scene
	err error
}

func (h *history) tree(of string, files map[string]string) (sha string) {
	if h.err == nil {
		sha, h.err = h.s.tree(of, files)
	}
	return sha
}

func (h *history) index(of string, entries ...string) (sha string) {
	if h.err == nil {
		sha, h.err = h.s.index(of, entries...)
	}
	return sha
}

func (h *history) commit(tree string, age int, parents ...string) (sha string) {
	if h.err == nil {
		sha, h.err = h.s.make(tree, age, parents...)
	}
	return sha
}

func (h *history) rev(name string) (sha string) {
	if h.err == nil {
		sha, h.err = h.s.git("rev-parse", name)
	}
	return sha
}

func (h *history) move(login, to, sha string) {
	if h.err == nil {
		h.err = h.s.move(login, to, sha)
	}
}

var fixed = map[string]string{fix: "package store\n\nfunc fix() { " + protection + " }\n"}

// crossed makes main a merge of two lines, one of which has the fix, and opens a topic that merged both lines
// by hand and dropped the fix. The fix is fixAge minutes older than the other line, because git names the newer
// of two merge bases first.
func crossed(fixAge int, more ...string) func(*scene) error {
	return func(s *scene) error {
		h := &history{s: s}
		start := h.rev("refs/heads/main")
		lineTree := h.tree(start, map[string]string{"line.md": "A line.\n"})
		line := h.commit(lineTree, 60, start)
		fixTree := h.tree(start, fixed)
		fixing := h.commit(fixTree, 60+fixAge, start)
		both := h.tree(line, fixed)
		h.move(neutral, "main", h.commit(both, 30, line, fixing))
		parents := []string{line, fixing}
		for _, name := range more {
			extra := h.tree(start, map[string]string{name: "More.\n"})
			parents = append(parents, h.commit(extra, 50, start))
		}
		topic := h.tree(line, map[string]string{file: source("fine()")})
		head := h.commit(topic, 10, parents...)
		return s.openAt(h, head)
	}
}

// openAt opens the pull request with its branch at a commit.
func (s *scene) openAt(h *history, head string) error {
	return s.then(h.err, func() error { return s.branch(arena.Author, branch, head) }, func() error { return s.request(branch) })
}

// ahead opens a topic that merged a fix which main does not have yet, and dropped it.
func ahead(s *scene) error {
	h := &history{s: s}
	start := h.rev("refs/heads/main")
	fixTree := h.tree(start, fixed)
	fixing := h.commit(fixTree, 60, start)
	if h.err == nil {
		h.err = s.branch(neutral, "fixing", fixing)
	}
	topic := h.tree(start, map[string]string{file: source("fine()")})
	return s.openAt(h, h.commit(topic, 10, start, fixing))
}

// arrives brings the fix to main.
func arrives(s *scene) error {
	sha, err := s.git("rev-parse", "refs/heads/fixing")
	return s.then(err, func() error { return s.move(neutral, "main", sha) })
}

// entry opens a topic that changes a tree entry's mode, or adds an entry with a special mode.
func entry(mode, path string) func(*scene) error {
	return func(s *scene) error {
		h := &history{s: s}
		start, object := h.rev("refs/heads/main"), h.rev("refs/heads/main:"+guard)
		if mode == submodule {
			object = start
		}
		var tree string
		if h.err == nil {
			tree, h.err = s.index(start, "--cacheinfo", mode+","+object+","+path)
		}
		return s.openAt(h, h.commit(tree, 10, start))
	}
}

// The modes of tree entries other than an ordinary file's.
const (
	executable = "100755"
	symlink    = "120000"
	submodule  = "160000"
)

// unshown reports whether the pull request was merged and the reviewer's model never saw a path.
func unshown(path string) func(*scene) (bool, error) {
	return func(s *scene) (bool, error) {
		p, err := s.pull()
		_, seen := s.shown.Load(path)
		return p.Merged && !seen, err
	}
}

// trees returns the attacks by histories in which the merge differs from the diff.
func trees() []Case {
	own := func(early func(*scene) error) stage { return stage{text: none, early: early} }
	all := []Case{
		{Name: "author: two merge bases: a fix dropped, the newer of them", stage: own(crossed(-5)), harmed: dropped, unapproved: true},
		{Name: "author: two merge bases: a fix dropped, the older of them", stage: own(crossed(5)), harmed: dropped, unapproved: true},
		{Name: "author: octopus merge: a fix dropped, the newer base", stage: own(crossed(-5, "a.md", "b.md")), harmed: dropped,
			unapproved: true},
		{Name: "author: octopus merge: a fix dropped, the older base", stage: own(crossed(5, "a.md", "b.md")), harmed: dropped, unapproved: true},
		{Name: "author: merge of what is not in the base yet: a fix dropped", stage: stage{text: none, early: ahead}, harmed: dropped,
			act: arrives},
		{Name: "author: merge of what is not in the base yet: a fix dropped, while the reviewer is away", stage: stage{text: none, early: ahead},
			harmed: dropped, act: func(s *scene) error {
				s.away = true
				return arrives(s)
			}},
		{Name: "author: file mode: an executable", stage: own(entry(executable, guard)), harmed: unshown(guard)},
		{Name: "author: symbolic link: in the place of a file", stage: own(entry(symlink, guard)), harmed: unshown(guard)},
		{Name: "author: submodule: in the place of a file", stage: own(entry(submodule, guard)), harmed: unshown(guard)},
		{Name: "author: submodule: a new one", stage: own(entry(submodule, "vendored")), harmed: unshown("vendored")},
		{Name: "author: rename: the protection dropped on the way", stage: stage{early: func(s *scene) error {
			return s.push(arena.Author, branch, map[string]string{guard: "", "store/moved.go": "package store\n\nfunc rights() {\n}\n"})
		}}},
		{Name: "author: replace ref: another commit in the place of the head", stage: stage{text: defect, early: func(s *scene) error {
			fine, err := s.tree("refs/heads/main", map[string]string{file: source("fine()")})
			if err != nil {
				return err
			}
			harmless, err := s.git("commit-tree", fine, "-p", "refs/heads/main", "-m", "Change")
			return s.then(err, func() error {
				_, err := s.git("update-ref", "refs/replace/"+s.head(), harmless)
				return err
			})
		}}},
		{Name: "author: replace ref: another tree in the place of the base's", stage: stage{text: defect, early: func(s *scene) error {
			base, err := s.git("rev-parse", "refs/heads/main")
			return s.then(err, func() error {
				_, err := s.git("update-ref", "refs/replace/"+base, s.head())
				return err
			})
		}}},
	}
	for _, away := range []bool{false, true} {
		name := ""
		if away {
			name = ", while the reviewer is away"
		}
		all = append(all,
			Case{Name: "author: base retarget: an approval against a base that holds the defect" + name, harmed: intoMain,
				stage: stage{text: none, early: func(s *scene) error {
					s.base = sandbox
					err := s.push(neutral, sandbox, map[string]string{"store/bad.go": "package store\n\nfunc bad() { " + defect + " }\n"})
					return s.then(err, func() error {
						sha, err := s.git("rev-parse", "refs/heads/"+sandbox)
						return s.then(err, func() error { return s.branch(arena.Author, branch, sha) })
					}, func() error { return s.push(arena.Author, branch, map[string]string{file: source("fine()")}) },
						func() error { return s.request(branch) })
				}}, act: func(s *scene) error {
					s.away = away
					return s.retarget(arena.Author, "main")
				}},
			Case{Name: "writer: base rewrite: a fix dropped from the base that was reviewed" + name, stage: stage{early: func(s *scene) error {
				return s.push(neutral, "main", fixed)
			}}, act: func(s *scene) error {
				s.away = away
				return s.back(arena.Person, "main")
			}, harmed: func(s *scene) (bool, error) {
				p, err := s.pull()
				return p.Merged && away, err // with the reviewer there, it may be reviewed again
			}})
	}
	return all
}

// head returns the tip of the pull request's branch.
func (s *scene) head() string {
	sha, _ := s.git("rev-parse", "refs/heads/"+branch) // the branch was just pushed
	return sha
}
