package golang

import "maps"

// question is what a program asks its checker.
type question struct {
	// Modules, Dirs and Texts are what was read since the last question: see layout, and checker.
	Modules map[string]string
	Dirs    map[string][]string
	Texts   map[string][]byte

	// Dir is the directory of the package that the question is about. Files of it are to be checked with the texts that
	// were read, Others with these texts.
	Dir    string
	Files  []string
	Others map[string][]byte
	// Type, if not empty, is the type whose methods are asked for.
	Type string
}

// answer is the answer to a question. References are stored in a form that is small, and read back fast.
type answer struct {
	// Words are the names, and Lists the methods of the interfaces, as positions in Words.
	Words []string
	Lists [][]int
	// Refs are the references of files, each as perRef numbers.
	Refs map[string][]int
	// Missing are the names in files that their packages lack.
	Missing map[string][]Missing

	Methods     []string
	IsInterface bool
}

// answer answers a question.
func (c *checker) answer(q question) answer {
	maps.Copy(c.modules, q.Modules)
	maps.Copy(c.dirs, q.Dirs)
	maps.Copy(c.texts, q.Texts)
	if q.Type != "" {
		names, isInterface := c.methods(q.Dir, q.Type)
		return answer{Methods: names, IsInterface: isInterface}
	}
	texts := map[string][]byte{}
	maps.Copy(texts, q.Others)
	for _, name := range q.Files {
		texts[name] = c.texts[name]
	}
	refs, missing := c.check(q.Dir, texts)
	a := pack(refs)
	a.Missing = missing
	return a
}

// perRef is how many numbers a reference is stored as: the positions of its words, of its list of methods (0 for none),
// its lines, and 1 for a field, 2 for one that is written.
const perRef = 7

// pack stores references in an answer.
func pack(all map[string][]Ref) answer {
	a := answer{Words: []string{""}, Lists: [][]int{nil}, Refs: map[string][]int{}}
	words, lists := map[string]int{"": 0}, map[*string]int{}
	word := func(text string) int {
		at, known := words[text]
		if !known {
			at = len(a.Words)
			a.Words, words[text] = append(a.Words, text), at
		}
		return at
	}
	list := func(names []string) int {
		if len(names) == 0 {
			return 0
		}
		at, known := lists[&names[0]] // references to methods of one interface share the list
		if !known {
			packed := make([]int, len(names))
			for i, name := range names {
				packed[i] = word(name)
			}
			at = len(a.Lists)
			a.Lists, lists[&names[0]] = append(a.Lists, packed), at
		}
		return at
	}
	for name, refs := range all {
		packed := make([]int, 0, perRef*len(refs))
		for _, r := range refs {
			bits := 0
			if r.Field {
				bits |= 1
			}
			if r.Written {
				bits |= 2
			}
			packed = append(packed, word(r.Name), r.Line, word(r.Of.Path), r.Of.Line, word(r.Interface), list(r.Methods), bits)
		}
		a.Refs[name] = packed
	}
	return a
}

// unpack returns the references in an answer.
func (a answer) unpack() map[string][]Ref {
	lists := make([][]string, len(a.Lists))
	for i, packed := range a.Lists {
		for _, at := range packed {
			lists[i] = append(lists[i], a.Words[at])
		}
	}
	all := map[string][]Ref{}
	for name, packed := range a.Refs {
		refs := make([]Ref, 0, len(packed)/perRef)
		for ; len(packed) >= perRef; packed = packed[perRef:] {
			refs = append(refs, Ref{Name: a.Words[packed[0]], Line: packed[1], Of: Definition{a.Words[packed[2]], packed[3]},
				Interface: a.Words[packed[4]], Methods: lists[packed[5]], Field: packed[6]&1 != 0, Written: packed[6]&2 != 0})
		}
		all[name] = refs
	}
	return all
}
