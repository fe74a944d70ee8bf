package verdict

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"touchstone/worktree/lazyregexp"
)

var (
	// lineAfter matches what follows the name of a file if a text names one of its lines, and countAfter what
	// follows it if a text counts something there, such as "(420 lines)".
	lineAfter  = lazyregexp.New("^[`*_)]*[\\s:,#(]*L?[0-9]")
	countAfter = lazyregexp.New("^[`*_)]*(?:[\\s:,#(]*[\\s,(])[0-9]+(?:%|(?:\\s+|-)[A-Za-z])")
	// lineWord matches a line that is named anywhere.
	lineWord = lazyregexp.New(`(?i)\blines? [0-9]`)
)

// occurrence is a place where a line of text names a file.
type occurrence struct {
	// files are those that it can mean: several if they share what it says of their paths.
	files []string
	// from and to are offsets in the line.
	from, to int
}

// placed are the changed files that a line of text names, and whether it names a line of them. It takes the first
// occurrence with a line, else the first one. It can be a whole path or the end of one, so that several files
// may be meant. Without a file, it is the text of the pull request that the line names.
func (g Grounds) placed(line string) (names []string, numbered bool) {
	all := g.mentions(line)
	for _, m := range all {
		if after := line[m.to:]; lineAfter.MatchString(after) && !countAfter.MatchString(after) {
			return m.files, true
		}
	}
	if len(all) > 0 {
		return all[0].files, lineWord.MatchString(line)
	}
	for _, text := range []string{TitleText, DescriptionText, MessagesText} {
		if strings.Contains(strings.ToLower(line), text) {
			return []string{text}, false
		}
	}
	return nil, false
}

// mentions are the places of changed files in a line of text, in their order there.
func (g Grounds) mentions(line string) (all []occurrence) {
	at := map[string][]int{} // the ends of a base name in the line
	for _, file := range g.Changed {
		base := path.Base(file)
		ends, known := at[base]
		if !known {
			ends = endsOf(line, base)
			at[base] = ends
		}
		for _, to := range ends {
			from, ok := pathStart(line[:to], file, base)
			if !ok || unmarked(line, from, to) {
				continue
			}
			i := slices.IndexFunc(all, func(m occurrence) bool { return m.to == to })
			switch {
			case i < 0:
				all = append(all, occurrence{[]string{file}, from, to})
			case from < all[i].from:
				all[i] = occurrence{[]string{file}, from, to}
			case from == all[i].from && to-from == len(file): // a whole path
				all[i].files = []string{file}
			case from == all[i].from && to-from != len(all[i].files[0]):
				all[i].files = append(all[i].files, file)
			}
		}
	}
	slices.SortFunc(all, func(a, b occurrence) int { return cmp.Compare(a.to, b.to) })
	return all
}

// endsOf are the ends of a name in a line, where it is not a part of a longer name.
func endsOf(line, name string) (ends []int) {
	for to := 0; ; {
		i := strings.Index(line[to:], name)
		if i < 0 {
			return ends
		}
		to += i + len(name)
		after, n := utf8.DecodeRuneInString(line[to:])
		next, _ := utf8.DecodeRuneInString(line[to+n:])
		longer := naming(after) || strings.ContainsRune("./", after) && naming(next)
		before, _ := utf8.DecodeLastRuneInString(line[:to-len(name)])
		if !longer && !naming(before) {
			ends = append(ends, to)
		}
	}
}

// naming reports whether a rune can belong to a word of a name.
func naming(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-'
}

// pathStart returns where a text that ends with a file's path, or with its last names, begins to name it: it takes as
// many folders of the path as the text has. It is not ok if the text names another folder before them.
func pathStart(text, file, base string) (from int, ok bool) {
	if strings.HasSuffix(text, file) {
		if before, _ := utf8.DecodeLastRuneInString(strings.TrimSuffix(text, file)); !naming(before) {
			return len(text) - len(file), true
		}
	}
	said := base
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		longer := path.Base(dir) + "/" + said
		if dir == "." || dir == "/" || !strings.HasSuffix(text, longer) {
			break
		}
		said = longer
	}
	above, cut := strings.CutSuffix(strings.TrimSuffix(text, said), "/")
	folder, _ := utf8.DecodeLastRuneInString(above)
	return len(text) - len(said), !cut || !naming(folder)
}

// unmarked reports whether what stands at an offset is a common word, and nothing shows that it is a name: a file
// can be called "test" or "a".
func unmarked(line string, from, to int) bool {
	if strings.ContainsFunc(line[from:to], func(r rune) bool { return !unicode.IsLower(r) && !unicode.IsDigit(r) && r != '-' }) {
		return false
	}
	quoted := from > 0 && to < len(line) && line[from-1] == line[to] && strings.IndexByte("`\"'*", line[to]) >= 0
	return !quoted && !(to+1 < len(line) && strings.IndexByte(":#", line[to]) >= 0 && line[to+1] != ' ')
}
