package impact

import (
	"strings"

	"touchstone/agent/outline"
	"touchstone/worktree"
	"touchstone/worktree/diff"
)

// lineChanges are the changed lines of a file, the lines beside them, and the other lines of changed functions,
// by line number. at are the positions of the changes at the head.
type lineChanges struct {
	removed, added, beside, around map[int]string
	at                             []int
}

// changesOf reads the changed lines from a patch.
func changesOf(patch []byte) lineChanges {
	c := emptyChanges()
	next := 0 // line of the head
	for l := range diff.Lines(patch) {
		switch l.Sign {
		case '@':
			next = l.Hunk.NewStart
		case '+':
			c.added[l.New] = string(l.Text())
			c.at, next = append(c.at, l.New), l.New+1
		case '-':
			c.removed[l.Old] = string(l.Text())
			c.at = append(c.at, next)
		case ' ':
			c.beside[l.New] = string(l.Text())
			next = l.New + 1
		}
	}
	return c
}

func emptyChanges() lineChanges {
	return lineChanges{removed: map[int]string{}, added: map[int]string{}, beside: map[int]string{}}
}

// widen adds the other lines of changed functions, of long ones those near a change. The patches show them,
// too.
func (c *lineChanges) widen(blocks []outline.Block, head string) {
	const long, near = 90, 15
	c.around = map[int]string{}
	lines, function := strings.Split(head, "\n"), outline.ByLine(blocks, outline.Block.Callable)
	for _, at := range c.at {
		b, ok := function(at)
		if !ok {
			continue
		}
		first, last := b.Start, min(b.End, len(lines))
		if b.Lines() > long {
			first, last = max(first, at-near), min(last, at+near)
		}
		for n := first; n <= last; n++ {
			if _, added := c.added[n]; !added && c.beside[n] == "" {
				c.around[n] = lines[n-1]
			}
		}
	}
}

// apart separates the changed lines from those of tests within the file.
func (c lineChanges) apart(s worktree.Sides) (product, tests lineChanges) {
	product, tests = emptyChanges(), emptyChanges()
	product.at = c.at
	split := func(text []byte, all, product, test map[int]string) {
		first, last := outline.InlineTests(s.Path, strings.Split(string(text), "\n"))
		for at, line := range all {
			if first < at && at <= last {
				test[at] = line
			} else {
				product[at] = line
			}
		}
	}
	split(s.Before, c.removed, product.removed, tests.removed)
	split(s.After, c.added, product.added, tests.added)
	split(s.After, c.beside, product.beside, tests.beside)
	return product, tests
}
