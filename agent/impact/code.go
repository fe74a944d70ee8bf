package impact

import (
	"slices"
	"strings"

	"touchstone/agent/outline"
	"touchstone/verdict"
	"touchstone/worktree/lazyregexp"
)

// Code is a part of a file at the head: a definition, or the function around a line.
type Code struct {
	Path  string `json:"path"`
	Title string `json:"title"`
	// Lines are in the order of the file; between them lines can be left out.
	Lines []Line `json:"lines"`
	// Cut says that lines after the last one are left out.
	Cut bool `json:"cut,omitempty"`

	rank, score int
	block       outline.Block
}

// Line is a line of a file.
type Line struct {
	Number int    `json:"number"`
	Text   string `json:"text"`
}

const (
	// maxWhole is the most lines of a function or type that is shown completely. Of a longer function, its
	// first lines are shown, or its head and nearLines on both sides of the line in question; of a longer type,
	// its head, its members' heads and what the change mentions, at most maxSkeleton lines.
	maxWhole    = 60
	nearLines   = 9
	maxSkeleton = 40
	// maxComment bounds the lines of the comment above a definition, maxHead those of a signature.
	maxComment = 8
	maxHead    = 8
)

// same reports whether two parts show the same block.
func (c Code) same(o Code) bool { return c.Path == o.Path && c.block.Start == o.block.Start }

// shown returns the part of a block to show; if at is a line, the part around that. It has no lines if the
// patches show the block.
func (f *finder) shown(file string, lines []string, blocks []outline.Block, b outline.Block, at int) Code {
	c := Code{Path: file, Title: strings.TrimSpace(b.Title()), block: b}
	end := min(b.End, len(lines))
	_, first := f.change.added[file][b.Start]
	_, last := f.change.added[file][end]
	if first && last {
		return c
	}
	for line := b.Start; line <= end && (b.Callable() || b.Kind == "test"); line++ {
		if _, added := f.change.added[file][line]; added {
			return c
		}
	}
	add := func(first, last int) {
		for n := max(first, 1); n <= min(last, len(lines)); n++ {
			if k := len(c.Lines); k == 0 || c.Lines[k-1].Number < n {
				c.Lines = append(c.Lines, Line{n, verdict.Clip(strings.TrimRight(lines[n-1], " \t\r"), maxText)})
			}
		}
	}
	start := b.Start
	for b.Callable() && start > 1 && b.Start-start <= maxComment && comment.MatchString(lines[start-2]) {
		start--
	}
	if b.Start-start > maxComment {
		start = b.Start
	}
	head := min(b.Body, b.Start+maxHead-1)
	switch {
	case end-start < maxWhole:
		add(start, end)
	case b.Kind == "type" || b.Kind == "module":
		add(start, head)
		heads := map[int]int{} // the last lines of the members' heads, by their first ones
		for _, inner := range blocks {
			if inner.In == b.Name && !inner.Local {
				heads[inner.Start] = max(heads[inner.Start], inner.Body)
			}
		}
		for n := head + 1; n <= end && len(c.Lines) < maxSkeleton; n++ {
			if f.change.speaks(lines[n-1]) {
				add(n, n)
			}
			add(n, min(heads[n], n+maxHead-1))
		}
	case at > 0:
		add(start, head)
		add(at-nearLines, min(at+nearLines, end))
	default:
		add(start, start+maxWhole-1)
	}
	c.Cut = c.Lines[len(c.Lines)-1].Number < end
	return c
}

// speaks reports whether a line has one of the names that changed lines use, unless it is an ordinary word.
func (c changed) speaks(line string) bool {
	return slices.ContainsFunc(parts(line), func(name string) bool { return c.used[name] && distinct(name) })
}

const (
	// maxAround bounds the functions shown around places, perPlaces the places of one name whose functions are
	// shown.
	maxAround = 40
	perPlaces = 6
)

// alone are the places whose line says enough.
var alone = set("imports comment string names document configuration CI text")

// around returns the functions around the places of names, unless they are among the definitions: in turn one
// for each name. A document's or a configuration's line stands alone.
func (f *finder) around(names []Name, called []Code) (all []Code, err error) {
	type use struct{ line, rank int }
	wanted := map[int][]use{}
	for i := range names {
		for k, p := range names[i].Places[:min(len(names[i].Places), perPlaces)] {
			if entry, ok := f.index.at(p.Path); ok && outline.Knows(p.Path) && !alone[strings.TrimPrefix(p.What, "test: ")] {
				wanted[entry] = append(wanted[entry], use{p.Line, k*len(names) + i})
			}
		}
	}
	err = read(f, wanted, func(uses []use, file, text string, lines []string) {
		blocks := outline.Of(file, []byte(text))
		function := outline.ByLine(blocks, func(b outline.Block) bool { return b.Callable() || b.Kind == "test" })
		for _, u := range uses {
			b, ok := function(u.line)
			if !ok || b.Lines() < 2 {
				start := max(1, u.line-nearLines/2)
				b = outline.Block{Kind: "lines", Start: start, Body: start, End: u.line + nearLines/2}
			}
			c := f.shown(file, lines, blocks, b, u.line)
			c.rank = u.rank
			if len(c.Lines) == 0 || slices.ContainsFunc(called, c.same) {
				continue
			}
			if i := slices.IndexFunc(all, c.same); i < 0 {
				all = append(all, c)
			} else if c.rank < all[i].rank {
				all[i] = c
			}
		}
	})
	if err != nil {
		return nil, err
	}
	besides, err := f.besides(len(names))
	for _, c := range besides {
		if !slices.ContainsFunc(called, c.same) && !slices.ContainsFunc(all, c.same) {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b Code) int { return a.rank - b.rank })
	return all[:min(len(all), maxAround)], err
}

// maxBesides bounds the methods of a changed type that are shown for the state that they share with changed
// ones.
const maxBesides = 12

// state matches what a method says of its object's state.
var state = lazyregexp.New(`\b(?:self|this)(?:\.|->)(\w+)\b|(@\w+)`)

// besides returns the methods of changed types that read or write most of the state of changed methods, those
// that share most first, ranked from rank on: after the functions around the first places of each name.
func (f *finder) besides(rank int) (all []Code, err error) {
	wanted := map[int]bool{}
	for file := range f.change.outlines {
		if entry, ok := f.index.at(file); ok && f.kind(file) != "test" && outline.Knows(file) {
			wanted[entry] = true
		}
	}
	err = read(f, wanted, func(_ bool, file, _ string, lines []string) {
		blocks := f.change.outlines[file]
		shared := map[string]map[string]bool{} // the state that changed methods use, by type
		callable, fields := map[string]bool{}, map[[2]string]bool{}
		for _, b := range blocks {
			callable[b.Name] = callable[b.Name] || b.Callable()
			fields[[2]string{b.In, b.Name}] = fields[[2]string{b.In, b.Name}] || b.Kind == "field" || b.Kind == "var"
		}
		uses := func(b outline.Block, take func(string)) {
			for _, line := range lines[min(b.Start-1, len(lines)):min(b.End, len(lines))] {
				if len(line) > maxLine { // thousands of methods can share it
					continue
				}
				for _, name := range parts(bare(line)) {
					take(name)
				}
				for _, m := range state.FindAllStringSubmatch(line, 10) {
					take("." + m[1] + m[2])
				}
			}
		}
		for _, b := range blocks {
			if b.Kind != "method" || b.In == "" || len(f.shown(file, lines, blocks, b, 0).Lines) > 0 {
				continue
			}
			if shared[b.In] == nil {
				shared[b.In] = map[string]bool{}
			}
			uses(b, func(name string) {
				if name[0] == '.' && !callable[name[1:]] || fields[[2]string{b.In, name}] {
					shared[b.In][name] = true
				}
			})
		}
		for _, b := range blocks {
			if b.Kind != "method" || len(shared[b.In]) == 0 || b.Lines() > maxWhole {
				continue
			}
			same := map[string]bool{}
			uses(b, func(name string) {
				if shared[b.In][name] {
					same[name] = true
				}
			})
			if c := f.shown(file, lines, blocks, b, 0); 2*len(same) >= len(shared[b.In]) && len(c.Lines) > 0 {
				c.score = len(same)
				all = append(all, c)
			}
		}
	})
	slices.SortStableFunc(all, func(a, b Code) int { return b.score - a.score })
	all = all[:min(len(all), maxBesides)]
	for i := range all {
		all[i].rank = rank + i
	}
	return all, err
}
