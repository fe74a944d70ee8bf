package guard

import (
	_ "embed"

	"touchstone/verdict/guard/table"
)

//go:embed words.txt
var wordsText string

var vocabulary = table.Read(wordsText)

// The words that words.txt lists and explains under these names.
var (
	articles     = vocabulary.Words("articles")
	behind       = vocabulary.Words("ends")
	breaks       = vocabulary.Words("breaks")
	builds       = vocabulary.Words("builds")
	conditions   = vocabulary.Words("conditions")
	deliveries   = vocabulary.Words("deliveries")
	descriptions = vocabulary.Words("descriptions")
	elsewhere    = vocabulary.Words("elsewhere")
	forNow       = vocabulary.Words("for-now")
	halves       = vocabulary.Names("halves")
	hints        = vocabulary.Words("hints")
	leaves       = vocabulary.Words("leaves")
	ofCI         = vocabulary.Words("ci")
	ofChecks     = vocabulary.Words("checks")
	ofTests      = vocabulary.Words("tests")
	others       = vocabulary.Words("others")
	owners       = vocabulary.Words("owners")
	pipelineDirs = vocabulary.Words("pipelineDirs")
	pipelines    = vocabulary.Words("pipelines")
	places       = vocabulary.Words("places")
	settings     = vocabulary.Words("settings")
	unlike       = vocabulary.Words("unlike")
	uploads      = vocabulary.Words("uploads")
)
