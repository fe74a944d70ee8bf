package filekind

import (
	"path"
	"slices"
	"strings"
)

// Language is a programming language, with those that extend it.
type Language string

// The languages of the table.
const (
	C          Language = "C" // and C++, and Objective-C
	CSharp     Language = "C#"
	Dart       Language = "Dart"
	Elixir     Language = "Elixir"
	Go         Language = "Go"
	GraphQL    Language = "GraphQL"
	JavaScript Language = "JavaScript" // and TypeScript
	Java       Language = "Java"
	Kotlin     Language = "Kotlin"
	Groovy     Language = "Groovy"
	Scala      Language = "Scala"
	Lua        Language = "Lua"
	PHP        Language = "PHP"
	Protobuf   Language = "Protocol Buffers"
	Python     Language = "Python"
	Ruby       Language = "Ruby"
	Rust       Language = "Rust"
	Shell      Language = "shell"
	SQL        Language = "SQL"
	Swift      Language = "Swift"
)

// form is what the ending of a name tells.
type form struct {
	language Language
	// comment begins a comment that ends with its line and not before. It is empty where a comment can end earlier: at "?>"
	// in PHP, at "]]" in Lua, and in templates, whose text is none.
	comment string
}

var forms = func() map[string]form {
	all := map[string]form{}
	for endings, f := range map[string]form{
		".c .h .cc .cpp .cxx .hpp .hh .hxx .m .mm": {C, "//"},
		".cs":                                   {CSharp, "//"},
		".dart":                                 {Dart, "//"},
		".ex .exs":                              {Elixir, "#"},
		".go":                                   {Go, "//"},
		".graphql":                              {GraphQL, "#"},
		".js .jsx .cjs .mjs .ts .tsx .cts .mts": {JavaScript, "//"},
		".vue .svelte":                          {JavaScript, ""},
		".java":                                 {Java, "//"},
		".kt .kts":                              {Kotlin, "//"},
		".scala":                                {Scala, "//"},
		".groovy":                               {Groovy, "//"},
		".lua":                                  {Lua, ""},
		".php":                                  {PHP, ""},
		".proto":                                {Protobuf, "//"},
		".py .pyi":                              {Python, "#"},
		".rb .rake":                             {Ruby, "#"},
		".erb":                                  {Ruby, ""},
		".rs":                                   {Rust, "//"},
		".sh .bash":                             {Shell, "#"},
		".sql":                                  {SQL, "-- "},
		".swift":                                {Swift, "//"},
		".cfg .toml .yaml .yml .ps1":            {"", "#"}, // of these, and of the next, only comments are known
		".erl .hrl":                             {"", "%"},
	} {
		for ending := range strings.FieldsSeq(endings) {
			all[ending] = f
		}
	}
	return all
}()

func formOf(name string) form { return forms[strings.ToLower(path.Ext(name))] }

// LanguageOf returns the language of a file by the ending of its name, whatever its case; "" for one that is not in the
// table.
func LanguageOf(name string) Language { return formOf(name).language }

// code are the endings of code besides the languages of [LanguageOf].
var code = strings.Fields(`
	.astro .pyx .ipynb .phtml .sc .gradle .clj .cljs .cljc .edn .inl .cu .csx .fs .fsx .vb .razor .cshtml .xaml .zig .nim .d .v
	.sv .vhd .heex .eex .erl .hrl .hs .lhs .elm .ml .mli .re .purs .luau .pl .pm .t .r .jl .pas .ada .adb .ads .f .f90 .cob .cbl
	.lisp .el .scm .rkt .sol .vy .move .wat .asm .s .zsh .fish .ps1 .psm1 .bat .cmd .awk .sed .tcl .psql .plsql .pks .pkb
	.graphqls .gql .cypher .rego .cue .jsonnet .libsonnet .nix .dhall .promql .thrift .avdl .smithy .fbs .capnp .html .htm .xhtml
	.css .scss .sass .less .styl .hbs .handlebars .mustache .ejs .pug .jade .haml .slim .liquid .njk .j2 .jinja .jinja2 .tmpl
	.tpl .gotmpl .templ .ftl .vm .twig .jsp .jspx .xsl .xslt .mk .mak .cmake .bzl .bazel .star .just .txtar .feature .bats .robot
	.glsl .hlsl .wgsl .metal .gd .vbs .applescript`)

// codeNames are the names of code that tell more than their endings.
var codeNames = strings.Fields("makefile gnumakefile rakefile justfile cmakelists.txt meson.build build build.bazel workspace " +
	"workspace.bazel tiltfile earthfile gradlew")

// Code reports whether a file is code by its name or the ending of it, whatever the case.
func Code(name string) bool {
	return LanguageOf(name) != "" || slices.Contains(code, strings.ToLower(path.Ext(name))) ||
		slices.Contains(codeNames, strings.ToLower(path.Base(name)))
}

// LineComment returns what begins a comment in a file of this name that ends with its line and not before; "" if there
// is no such comment, or none that is known.
func LineComment(name string) string { return formOf(name).comment }
