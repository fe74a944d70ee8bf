package guidelines

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
)

//go:embed docs/*.md
var docs embed.FS

//go:embed prompts/reviewer.md
var reviewerInstructions string

//go:embed prompts/author.md
var authorInstructions string

//go:embed prompts/checker.md
var checkerInstructions string

//go:embed prompts/reader.md
var readerInstructions string

//go:embed prompts/drafter.md
var drafterInstructions string

// Default returns the embedded documents, parsed once and shared by all callers; Overlay does not modify
// them. An error means that this build's own documents are broken.
func Default() (Set, error) { return embedded() }

var embedded = sync.OnceValues(func() (Set, error) {
	files, err := fs.Glob(docs, "docs/*.md")
	if err != nil {
		return Set{}, fmt.Errorf("list embedded guidelines: %w", err)
	}
	parsed := make([]Document, 0, len(files))
	for _, file := range files {
		text, err := docs.ReadFile(file)
		if err != nil {
			return Set{}, fmt.Errorf("read embedded guidelines: %w", err)
		}
		doc, err := Parse(strings.TrimSuffix(path.Base(file), ".md"), string(text))
		if err != nil {
			return Set{}, err
		}
		parsed = append(parsed, doc)
	}
	return Set{}.Overlay(parsed...), nil
})

// ReviewerInstructions returns the standing instruction file (the CLAUDE.md) of a model that reviews. It
// refers to the guidelines and to the answer format, which the prompt contains.
func ReviewerInstructions() string { return normalise(reviewerInstructions) }

// CheckerInstructions returns the standing instruction file of a model that tries to refute one finding of a
// review.
func CheckerInstructions() string { return normalise(checkerInstructions) }

// ReaderInstructions returns the standing instruction file of a model that reads an approving review's text for
// defects which its lists lack.
func ReaderInstructions() string { return normalise(readerInstructions) }

// DrafterInstructions returns the standing instruction file of a model that rewords one row whose findings
// were mostly wrong.
func DrafterInstructions() string { return normalise(drafterInstructions) }

// AuthorInstructions returns the standing instruction file (the CLAUDE.md) of a model that applies a review.
func AuthorInstructions() string { return normalise(authorInstructions) }
