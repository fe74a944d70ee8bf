package reviewer_test

import (
	"slices"
	"testing"

	"touchstone/guidelines"
	"touchstone/verdict/guard"
)

// TestADocumentInThePlaceOfABuiltInOneIsHeld checks that the guard, which cannot import the guidelines, knows the names of
// all documents that they bring.
func TestADocumentInThePlaceOfABuiltInOneIsHeld(t *testing.T) {
	t.Parallel()
	set, err := guidelines.Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range set.Documents {
		file := guard.File{Path: ".touchstone/guidelines/" + doc.Name + ".md", After: []byte("# Nothing to see\n")}
		found := guard.Examine(guard.Change{Files: []guard.File{file}})
		if !slices.ContainsFunc(found, func(f guard.Finding) bool { return f.Tier == guard.Hold && f.Path == file.Path }) {
			t.Errorf("%s is replaced without a hold: %+v", doc.Name, found)
		}
	}
}
