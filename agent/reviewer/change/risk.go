package change

import (
	"bytes"
	"os"
	"slices"
	"strings"

	"touchstone/agent/outline"
	"touchstone/verdict/guard/code"
	"touchstone/worktree/diff"
	"touchstone/worktree/filekind"
	"touchstone/worktree/lazyregexp"
)

// risk is something that a changed line can touch, and the minimum tier of a change that touches it.
type risk struct {
	what string
	tier Tier
	line *lazyregexp.Regexp
}

// risks are the things that even small changes break. Those of tier full cost most if they break:
// concurrency, stored data, rights, money.
var risks = []risk{
	{"locks", Full, lazyregexp.New(`(?i)\b(?:r?w?lock|unlock|runlock|rlock|try_?lock|mutex|rwmutex|semaphore|synchronized` +
		`|critical_section)\b|\.(?:Lock|Unlock|RLock|RUnlock|lock|unlock|acquire|release|synchronize)\(`)},
	{"what runs at the same time", Full, lazyregexp.New(`\bgo\s+(?:func\b|[\w.]+\()|<-|\bchan\b|\bselect\s*\{|\bsync\.|\batomic\b` +
		`|(?i:\b(?:thread|goroutine|coroutine|spawn|executor|waitgroup|volatile|concurrent\w*)\b)`)},
	{"a transaction", Full, lazyregexp.New(`(?i)\b(?:transaction\w*|commit|rollback|savepoint|begin_?tx|with_?tx)\b`)},
	{"rights or identities", Full, lazyregexp.New(`(?i)\b(?:(?:pre|post)?auth\w*|login_?required|roles_?allowed|secured` +
		`|permit_?all|permission\w*|forbidden|unauthori[sz]ed|is_?admin|acl|rbac|csrf|cors` +
		`|token|password|secret|credential\w*|verify_?signature|hmac|constant_?time\w*)\b`)},
	{"money", Full, lazyregexp.New(`(?i)\b(?:price|amount|currency|balance|refund|invoice|tax|discount)s?\b`)},
	{"the shape of the database", Full, lazyregexp.New(`(?i)\b(?:create|alter|drop)\s+(?:table|index|column)\b`)},
	{"what is deferred or cleaned up", Lite,
		lazyregexp.New(`\bdefer\b|\bfinally\b|\bensure\b|\.(?:Close|close|dispose|Dispose|shutdown|Shutdown|cancel|Cancel)\(`)},
	{"how failures are told", Lite, lazyregexp.New(`\b(?:err|error|errors|panic|recover|raise|rescue|throw|throws|catch|except|unwrap` +
		`|expect)\b|\?;?$`)},
	{"a condition", Lite, lazyregexp.New(`\b(?:if|ifn?def|endif|cfg|else|elif|elsif|unless|switch|case|when|match|while|until|guard` +
		`|return|break|continue)\b|&&|\|\||[<>!=]=`)},
	{"how input is read", Lite, lazyregexp.New(`(?i)\b\w*(?:pars|decod|unmarshal|deseriali|regexp?|escap|saniti|split|trim)\w*`)},
	{"time", Lite, lazyregexp.New(`(?i)\b(?:time|date|datetime|timeout|deadline|duration|timezone|utc|sleep|ticker|interval|retry` +
		`|retries)\b|\btime\.`)},
}

// removedCheck matches a line that checks something before the code goes on. If such a line is removed, what
// it guarded is open.
var removedCheck = lazyregexp.New(`^\s*(?:\}\s*else\s+)?(?:if|unless|guard|assert|require|ensure|raise|throw)\b|\b(?:check|validate` +
	`|verify|assert|require|ensure)\w*\(`)

// comments matches a line that looks like a comment. It does not match most lines that only begin like one: a directive,
// an annotation, a pointer that is used without a space. What it matches can still be code; see tells and touches.
var comments = lazyregexp.New(`^\s*(?://(?:[\s/!]|$)|#(?:\s|$)|/\*|\*(?:[\s/]|$)|--\s)`)

// plainComments are the names of code whose comments can be told by their lines alone. In others, text that goes on
// over lines can look like a comment and run: heredocs, templates, markup.
var plainComments = lazyregexp.New(`\.(?:go|java|kts?|cs|rs|swift|ts|mts|cts|c|cc|cpp|cxx|h|hh|hpp|py|scala|dart)$`)

// odd matches what ends a comment for a compiler, joins it with the next line, or makes it say how the file is read.
var odd = lazyregexp.New(`[\\\r\x00\x0b\x0c\x85]|\x{2028}|\x{2029}|\?\?/|coding[:=]|@jsx|__PURE__|///?\s*<|# ///`)

// prose matches the names of documents that are read and not run.
var prose = lazyregexp.New(`(?i)\.(?:md|markdown|rst|adoc)$|(?:^|/)(?:licen[cs]e|notice|copying|authors)[^/.]*$`)

// tells reports whether a file's change is of a document, under both of its names, or of comments only: the code of both
// sides has to be the same, token for token.
func tells(f diff.File, checkout *os.Root) bool {
	documented := func(name string) bool {
		f.Path, f.OldPath = name, name
		return about(documents, f) && prose.MatchString(name)
	}
	if changesMode(f) {
		return false
	}
	if documented(f.Path) && documented(f.OldPath) {
		return true
	}
	lines := 0
	for line := range changedLines(f.Patch) {
		if lines++; (!comments.Match(line) || odd.Match(line)) && len(bytes.TrimSpace(line)) > 0 {
			return false
		}
	}
	return compareCode(f, checkout).same && f.Path == f.OldPath && plainComments.MatchString(f.Path) && lines > 0 && lines == f.Added+f.Deleted
}

// onlyTells reports whether a change contains only documents and comments in code.
func onlyTells(c Change, checkout *os.Root) bool {
	return len(c.Files) > 0 && !slices.ContainsFunc(c.Files, func(f File) bool { return !tells(f.File, checkout) })
}

// comparison is what both sides of a file's code tell. It is the zero value for a file whose head or language cannot be
// read.
type comparison struct {
	known bool // it is certain what is code
	// old and new are the lines of both sides in which there is code.
	old, new map[int]bool
	same     bool // the code is the same, token for token
	// hides says that lines which the change leaves alone are other code than before: they became a comment or a text, or
	// are none any more.
	hides bool
}

// compareCode compares both sides of a file's code. Of 3,286 changes of at most 100 lines in 106 public repositories,
// the last 40 commits each, five hide something by it, and 2,022 of 2,027 changed files in seven languages are known.
func compareCode(f diff.File, checkout *os.Root) comparison {
	head, err := read(checkout, f.Path, maxSource)
	if err != nil || f.Truncated {
		return comparison{}
	}
	base, removed, added, ok := undo(string(head), f.Patch)
	before, after := code.Tokens(f.Path, base), code.Tokens(f.Path, string(head))
	if !ok || before == nil || after == nil {
		return comparison{}
	}
	kept := func(all []code.Token, changed map[int]bool) (texts []string) {
		for _, t := range all {
			switch {
			case changed[t.Line]:
			case t.Literal: // changed lines may be in it
				texts = append(texts, "")
			default:
				texts = append(texts, t.Text)
			}
		}
		return texts
	}
	c := comparison{known: true, old: map[int]bool{}, new: map[int]bool{}, hides: !slices.Equal(kept(before, removed), kept(after, added))}
	doubts := !certain.MatchString(f.Path)
	for _, side := range []struct {
		tokens         []code.Token
		changed, lines map[int]bool
	}{{before, removed, c.old}, {after, added, c.new}} {
		for _, t := range side.tokens {
			marked := doubts && holdsMark(t)
			for line := t.Line; line <= t.Line+strings.Count(t.Text, "\n"); line++ {
				side.lines[line] = true
				c.known = c.known && !(marked && side.changed[line])
			}
		}
	}
	c.same = c.known && slices.EqualFunc(before, after, func(a, b code.Token) bool { return a.Text == b.Text })
	return c
}

var (
	// marks matches what begins or ends a comment or a text over lines.
	marks = lazyregexp.New(`/\*|\*/|<!--|-->|"""|'''|<<|\?>|<\?|` + "`")
	// certain are the names of code in which it is certain where a literal begins and ends.
	certain = lazyregexp.New(`\.(?:go|java|rs|c|cc|cpp|cxx|h|hh|hpp)$`)
)

// holdsMark reports whether a literal has such a mark, or a regular expression a quote, in it. It may be no literal: where
// a regular expression begins, only a parser of the whole file can tell. Of 5,161 changes in public repositories, 17 are
// of tier lite by it.
func holdsMark(t code.Token) bool {
	return t.Literal && (marks.MatchString(strings.Trim(t.Text, "\"'`")) ||
		strings.IndexByte("/%~", t.Text[0]) >= 0 && strings.ContainsAny(t.Text, "\"'"))
}

// undo returns what a file was before its patch, and the numbers of the lines that the patch removes and adds. It
// reports whether the patch fits.
func undo(head string, patch []byte) (base string, removed, added map[int]bool, ok bool) {
	lines := strings.Split(head, "\n")
	var before []string
	next := 0 // the first line of the head that was not looked at
	removed, added = map[int]bool{}, map[int]bool{}
	for l := range diff.Lines(patch) {
		switch l.Sign {
		case '@':
			from := l.Hunk.NewStart
			if l.Hunk.NewLines > 0 {
				from--
			}
			if from < next || from > len(lines) {
				return "", nil, nil, false
			}
			before, next = append(before, lines[next:from]...), from
		case ' ', '+':
			if next == len(lines) || lines[next] != string(l.Text()) {
				return "", nil, nil, false
			}
			if next++; l.Sign == '+' {
				added[l.New] = true
			} else {
				before = append(before, string(l.Text()))
			}
		case '-':
			removed[l.Old], before = true, append(before, string(l.Text()))
		}
	}
	return strings.Join(append(before, lines[next:]...), "\n"), removed, added, true
}

var (
	// runs matches a line with something behind a comment that ends in it.
	runs        = lazyregexp.New(`\*/\s*[^\s*/]`)
	lineComment = lazyregexp.New(`^\s*//`)
)

// touches returns the gravest risk that a file's changed lines touch; none for comments, tests and files that
// are not code. In a language that is known, a line that looks like a comment is one if there is certainly no code in it.
func touches(f diff.File, compared comparison) (what string, tier Tier) {
	if !outline.Knows(f.Path) || !about(product, f) {
		return "", Trivial
	}
	lexed := code.Tokens(f.Path, "") != nil
	pointers := filekind.LanguageOf(f.Path) == filekind.C // "*" at the beginning of a line can be a pointer, and "#" a preprocessor line
	tier = Trivial
	for l := range diff.Lines(f.Patch) {
		if l.Sign != '-' && l.Sign != '+' {
			continue
		}
		line, silent := l.Text(), compared.known && !compared.new[l.New]
		if l.Sign == '-' {
			silent = compared.known && !compared.old[l.Old]
		}
		comment := comments.Match(line) && !runs.Match(line) && (!pointers || lineComment.Match(line))
		if len(line) > maxRow || comment && (silent || !lexed) || len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if l.Sign == '-' && removedCheck.Match(line) && !bytes.Contains(f.Patch, append([]byte("\n+"), line...)) {
			if indents(f.Patch, line) {
				return "a check whose indentation changes", Full
			}
			return "a check that is taken away", Full
		}
		for _, r := range risks {
			if r.tier != tier && tier != Full && r.line.Match(line) {
				what, tier = r.what, r.tier
			}
		}
		if tier == Full {
			return what, tier
		}
	}
	return what, tier
}

// indents reports whether a patch adds a line again, with other white space around it. Of eight such checks in public
// repositories, seven then stand in another block, two of them under a new condition: that is no smaller a risk.
func indents(patch, line []byte) bool {
	for added := range diff.Signed(patch, '+') {
		if bytes.Equal(bytes.TrimSpace(added), bytes.TrimSpace(line)) {
			return true
		}
	}
	return false
}

// product are files that are not tests, or not only tests; documents are prose.
var product, documents = scope("!tests"), scope("docs")
