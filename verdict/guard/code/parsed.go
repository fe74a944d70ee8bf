package code

import (
	"iter"
	"runtime"

	"touchstone/verdict/guard/change"
)

// parsed is a file and the sides of it that are source code, nil for one that is not there.
type parsed struct {
	file          change.File
	before, after *side
	failed        any // what a parser panicked with
}

// parseAll parses files at the same time, and hands them on in their order. No more are ahead
// than there are processors, so that most sides are let go before the last is parsed.
func parseAll(files []change.File) iter.Seq[parsed] {
	return func(yield func(parsed) bool) {
		next := make(chan chan parsed, runtime.GOMAXPROCS(0)-1)
		stop := make(chan struct{})
		defer close(stop)
		go func() {
			defer close(next)
			for _, f := range files {
				one := make(chan parsed, 1)
				select {
				case next <- one:
					go func() { one <- parseFile(f) }()
				case <-stop:
					return
				}
			}
		}()
		for one := range next {
			p := <-one
			if p.failed != nil {
				panic(p.failed) // on the goroutine that is guarded against it
			}
			if !yield(p) {
				return
			}
		}
	}
}

func parseFile(f change.File) (p parsed) {
	p.file = f
	defer func() { p.failed = recover() }()
	if was := languageOf(f.OldPath); f.OldPath != "" && was != nil {
		p.before = parse(f.OldPath, f.Before, was)
	}
	if is := languageOf(f.Path); f.Path != "" && is != nil {
		p.after = parse(f.Path, f.After, is)
	}
	return p
}
