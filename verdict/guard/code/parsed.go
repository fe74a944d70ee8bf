package code

import (
	"runtime"

	"touchstone/verdict/guard/change"
)

// parsed is a file and its sides that are source code; a missing side is nil.
type parsed struct {
	file          change.File
	before, after *side
	failed        any // what a parser panicked with
}

// parseAll parses files concurrently and hands them on in their order. No more files are parsed ahead than
// there are processors, so that most sides are released before the last file is parsed.
func parseAll(files []change.File, take func(parsed)) {
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
			panic(p.failed) // on the caller's goroutine, which recovers panics
		}
		take(p)
	}
}

func parseFile(f change.File) (p parsed) {
	p.file = f
	defer func() { p.failed = recover() }()
	if was := languageOf(f.OldPath); was != nil {
		p.before = parse(f.OldPath, f.Before, was)
	}
	if is := languageOf(f.Path); is != nil {
		p.after = parse(f.Path, f.After, is)
	}
	return p
}
