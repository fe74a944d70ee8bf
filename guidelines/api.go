package guidelines

import (
	"path"
	"strings"

	"touchstone/worktree/lazyregexp"
)

// interfaceName matches descriptions of an interface in a language made for that purpose.
var interfaceName = lazyregexp.New(`(?:^|/)(?:[^/]*(?:openapi|swagger|asyncapi)[^/]*\.(?:ya?ml|json)|[^/]+\.schema\.json` +
	`|schema\.json|[^/]+\.(?:proto|thrift|avsc|avdl|graphqls?|gql|wsdl|xsd|raml|smithy|fbs|capnp|idl|d\.[cm]?ts))$`)

// hiddenPath matches directories whose declarations code outside the repository cannot use, such as Go's
// internal packages (https://go.dev/s/go14internal).
var hiddenPath = lazyregexp.New(`(?:^|/)(?:internal|_internal|private)/`)

// declarations matches, by extension, lines that declare something that code in other files, packages or
// programs can use.
var declarations = byExtension(map[string]string{
	".go": `^(?:func|type|var|const)\s+(?:\([^)]*\)\s*)?[A-Z]|^\t[A-Z]\w*(?:(?:, [A-Z]\w*)*\s+[\w*\[\]<(]|\()`,
	".js .jsx .cjs .mjs .ts .tsx .cts .mts .vue .svelte": `^\s*export\b|\bmodule\.exports\b|^\s*exports\.\w`,
	".py .pyi":              `^ {0,4}(?:async\s+)?(?:def|class)\s+(?:[A-Za-z]|__init__|__call__)|^__all__\b`,
	".java .cs .vb .groovy": `(?i)^\s*(?:\[.*\]\s*)?(?:public|protected)\b`,
	".kt .kts": `^\s*(?:(?:public|protected|open|abstract|data|sealed|enum|annotation|suspend|inline|infix|operator|override` +
		`|const|expect|actual)\s+)*(?:fun|class|interface|object|typealias)\b`,
	".scala": `^\s*(?:(?:abstract|case|final|sealed|implicit|inline|override|lazy)\s+)*(?:def|class|trait|object|type|enum` +
		`|given)\b`,
	".rs":              `^\s*(?:#\[.*\]\s*)?pub\s|#\[macro_export\]|^\s*extern "C"`,
	".rb .rake":        `^\s*(?:def|class|module|attr_(?:reader|writer|accessor))\s`,
	".php":             `^\s*(?:abstract\s+|final\s+|readonly\s+)*(?:public\b|(?:class|interface|trait|enum|function)\s+\w)`,
	".swift":           `^\s*(?:@\w+\s+)*(?:public|open)\b`,
	".ex .exs":         `^\s*(?:def|defmodule|defmacro|defstruct|defprotocol|defdelegate)\b`,
	".h .hh .hpp .hxx": `^\s*[A-Za-z_#~].*[;{(,:]\s*$|^#\s*define\s`,
	".dart":            `^(?:(?:abstract|base|final|sealed|mixin)\s+)*(?:class|enum|mixin|extension|typedef)\s+[A-Za-z]`,
	".sol":             `\b(?:public|external)\b`,
})

func byExtension(table map[string]string) map[string]*lazyregexp.Regexp {
	compiled := map[string]*lazyregexp.Regexp{}
	for extensions, expr := range table {
		pattern := lazyregexp.New(expr)
		for _, extension := range strings.Fields(extensions) {
			compiled[extension] = pattern
		}
	}
	return compiled
}

// Declares reports whether a line of a file of code declares something that others can use, by the language's rules of
// visibility as far as one line and the file's name show them.
func Declares(name string, line []byte) bool {
	declaration := declarations[strings.ToLower(path.Ext(name))]
	return declaration != nil && !hiddenPath.MatchString(strings.ToLower(name)) && declaration.Match(line)
}

// publishes reports whether a file describes an interface, or is code whose changed lines declare a part of
// one under the language's rules of visibility.
func publishes(name string, k kinds, file File) bool {
	if interfaceName.MatchString(name) {
		return true
	}
	return k&isCode != 0 && declarations[path.Ext(name)] != nil && !hiddenPath.MatchString(name) &&
		mentions(file, func(line []byte) bool { return Declares(name, line) })
}
