package tools

import (
	_ "embed"

	"touchstone/verdict/guard/table"
)

//go:embed words.txt
var wordsText string

var vocabulary = table.Read(wordsText)

// The words that words.txt lists and explains under these names.
var (
	analyzers   = vocabulary.Words("analyzers")
	bases       = vocabulary.Words("bases")
	buildFiles  = vocabulary.Words("buildFiles")
	builtIn     = vocabulary.Words("builtIn")
	fixtures    = vocabulary.Words("fixtures")
	folders     = vocabulary.Words("folders")
	foreign     = vocabulary.Words("foreign")
	grades      = vocabulary.Names("grades")
	guides      = vocabulary.Words("guides")
	hiding      = vocabulary.Words("hiding")
	idle        = vocabulary.Lines("idle")
	lax         = vocabulary.Words("lax")
	owners      = vocabulary.Words("owners")
	shared      = vocabulary.Words("shared")
	talk        = vocabulary.Words("talk")
	wholeBuilds = vocabulary.Words("wholeBuilds")
	diagnostics = append(vocabulary.Words("diagnostics"), "")
	flagFiles   = append(vocabulary.Words("flagFiles"), buildFiles...)
)
