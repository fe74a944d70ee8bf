package suspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"touchstone/verdict"
)

// shown are the prefixes of content types that are displayed or played, and that nothing executes.
var shown = []string{"image/", "audio/", "video/", "font/", "application/pdf", "application/ogg", "application/vnd.ms-fontobject"}

// Opaque is the hold for a file without lines in the diff whose effect no session can judge: a program, an
// archive, text in UTF-16, or anything else except pictures, sounds and fonts. ok is false if the file is one of
// these, a published Gradle wrapper, or text in UTF-8.
func Opaque(path string, content []byte, executable bool) (h verdict.Hold, ok bool) {
	if wide(content) != "" {
		return verdict.Hold{Kind: verdict.HiddenText, Rule: rule, Path: path,
			Detail: "The file is text in UTF-16, of which git shows no line: the review did not see what it says. Read it, or have it " +
				"saved in UTF-8."}, true
	}
	if len(content) == 0 || legible(content) != "" || published(path, content) {
		return verdict.Hold{}, false
	}
	kind := mimetype.Detect(content).String()
	if !executable && slices.ContainsFunc(shown, func(s string) bool { return strings.HasPrefix(kind, s) }) {
		return verdict.Hold{}, false
	}
	return verdict.Hold{Kind: verdict.HiddenText, Rule: rule, Path: path,
		Detail: "The binary file is a program, an archive or of an unknown kind: no review can read what it holds. Look where it comes from, " +
			"and whether it is what its source makes."}, true
}

// Elsewhere is the hold for a new or moved submodule.
func Elsewhere(path, commit string) verdict.Hold {
	return verdict.Hold{Kind: verdict.HiddenText, Rule: rule, Path: path,
		Detail: fmt.Sprintf("The submodule brings in commit %s of another repository, whose content is no part of this review. Look what it "+
			"changes there.", commit)}
}
