package guard

import (
	"regexp"
	"slices"
	"strings"
)

// hiding are the attributes by which a file's changes are not shown. See
// https://docs.github.com/en/repositories/working-with-files/managing-files/customizing-how-changed-files-appear-on-github
var hiding = regexp.MustCompile(`\s(?:linguist-generated|linguist-vendored|-diff|binary)(?:=true)?(?:\s|$)`)

// unshown finds patterns of a .gitattributes that are new and hide the changes of
// tests, pipelines, policies or all code of a language.
func unshown(f *file) []Hit {
	for i := range f.new.lines {
		text := f.new.at(i + 1)
		if !hiding.MatchString(text) || text[0] == '#' || slices.Contains(f.old.lines, text) {
			continue
		}
		pattern := strings.Fields(text)[0]
		name := strings.NewReplacer("**", "x", "*", "x").Replace(strings.Trim(pattern, "/"))
		all := strings.Trim(pattern, "*/") == "" || strings.HasPrefix(strings.TrimLeft(pattern, "*/"), ".") && languageOf(name) != "" && strings.Count(name, ".") == 1
		if all || isTest(name) && languageOf(name) != rust || isPipeline(name) || isPolicy(name) {
			return []Hit{{Policy, f.path(), i + 1, "", text, "Changes of such files are no longer shown."}}
		}
	}
	return nil
}
