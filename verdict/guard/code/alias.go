package code

// alias is another name for a function that makes a test in a script, and skips the test on a condition:
// "const onPosix = isWindows() ? test.skip : test".
type alias struct{ word, cond string }

// aliased finds the aliases of a file.
func (f *finder) aliased() {
	for i := 0; i+3 < len(f.tokens); i++ {
		if f.of(i) != "const" || f.kindOf(i+1) != word || f.of(i+2) != "=" {
			continue
		}
		q := i + 3
		for q < min(len(f.tokens), i+maxHead) && f.of(q) != "?" && f.of(q) != ";" && f.of(q) != "const" {
			q++
		}
		yes, n := f.choice(q + 1)
		no, _ := f.choice(n + 1)
		cond := f.plain(i+3, min(q, len(f.tokens)))
		if no.cond != "" {
			cond = "! " + cond
		}
		if f.of(q) == "?" && f.of(n) == ":" && yes.word != "" && yes.word == no.word && yes.cond != no.cond {
			f.aliases[f.of(i+1)] = alias{yes.word, cond}
		}
	}
}

// choice reads "test" or "test.skip". It returns the alias and the index of the token after it.
func (f *finder) choice(i int) (a alias, end int) {
	if w := f.of(i); f.lang.calls[w] || f.lang.groups[w] {
		a.word = w
	}
	if f.of(i+1) == "." && chained[f.of(i+2)] == skips {
		return alias{a.word, f.of(i + 2)}, i + 3
	}
	return a, i + 1
}
