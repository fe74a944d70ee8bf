package suspect

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"touchstone/verdict"
	"touchstone/worktree/filekind"
	"touchstone/worktree/lazyregexp"
)

const (
	// Data is the kind of the evidence for a binary file among those of tests, for a document, and for a picture of another name
	// or that is executable.
	Data = "binary"
	// Submodule is that of the evidence for a submodule that moves along a branch.
	Submodule = "submodule"
)

// The content types, by the beginnings of their names, of files that are not text.
var (
	// shown are displayed or played, and nothing executes them.
	shown = []string{"image/", "audio/", "video/", "font/", "application/pdf", "application/ogg", "application/vnd.ms-fontobject"}
	// documents hold data for people or programs, which builds and tests do not execute.
	documents = []string{"application/vnd.openxmlformats-officedocument.", "application/vnd.oasis.opendocument.", "application/msword",
		"application/vnd.ms-excel", "application/vnd.ms-powerpoint", "application/vnd.ms-outlook", "application/epub+zip", "application/tzif",
		"application/fits", "application/vnd.apache.parquet", "application/vnd.shp", "application/vnd.shx", "application/x-dbf",
		"application/dicom", "model/gltf-binary"}
	// pictures are the endings of such files. A picture of another name is one for people, and may be a script for a shell.
	pictures = strings.Fields(`
		.png .apng .jpg .jpeg .jpe .jfif .gif .webp .bmp .dib .ico .cur .ani .icns .tif .tiff .psd .psb .svg .svgz .avif .heic .heif
		.jxl .jp2 .j2k .jpx .jpm .xcf .hdr .exr .dds .djvu .djv .xpm .pcx .pbm .tga .bpg .dwg .mp3 .wav .ogg .oga .ogv .opus .flac .aac .m4a
		.m4b .aif .aiff .au .mid .midi .amr .ape .mpc .voc .qcp .m3u .mp4 .m4v .mov .qt .avi .mkv .mk3d .mka .webm .mpg .mpeg .flv .wmv .asf
		.3gp .3g2 .ttf .otf .ttc .otc .woff .woff2 .eot .pdf .ai`)
	// loaded are the endings of files that a runtime executes whatever their first bytes are, since what precedes an archive
	// or a script in them does not count.
	loaded = strings.Fields(".jar .war .ear .zip .whl .egg .phar .pyz .nupkg .vsix .apk .gem .crx .xpi")
)

// unasked are the endings of compiled code that Python, Go and Emacs load, by what it is called, with or in place of the source
// beside it.
var unasked = strings.Fields(".pyc .pyo .pyd .syso .elc")

// catalogs are the first bytes of a compiled catalog of gettext, in either byte order
// (https://www.gnu.org/software/gettext/manual/html_node/MO-Files.html).
var catalogs = []string{"\xde\x12\x04\x95", "\x95\x04\x12\xde"}

// document reports whether a file holds data for people or programs, and is named as what it is.
func document(ending string, kind *mimetype.MIME, content []byte) bool {
	catalog := slices.ContainsFunc(catalogs, func(first string) bool { return bytes.HasPrefix(content, []byte(first)) })
	return ending == ".mo" && catalog || ending == kind.Extension() && of(kind, documents)
}

// implicit reports whether tools execute a file of this name though nothing needs to mention it: the wrappers of builds,
// compiled code beside its source, and classes among the resources, which stand before those of the dependencies.
func implicit(name string) bool {
	folders, base := path.Split(strings.ToLower(name))
	switch ending := path.Ext(base); ending {
	case ".so":
		return strings.Contains(base, ".cpython-") || strings.Contains(base, ".abi3.")
	case ".class":
		return strings.Contains(folders, "/resources/")
	default:
		return wrapper(base) || slices.Contains(unasked, ending)
	}
}

// project matches, in lower case, the names of the XML files that MSBuild, Maven and Ant execute.
var project = lazyregexp.New(`^(?:.+\.(?:\w*proj|props|targets)|pom\.xml|build\.xml)$`)

// builds reports whether a build executes a file of this name, which is XML and so may be in UTF-16.
func builds(name string) bool { return project.MatchString(strings.ToLower(path.Base(name))) }

// Opaque finds a file without lines in the diff whose effect no session can judge. What may be executed is a hold:
// programs, archives, code and text that git takes for bytes, and what is of an unknown kind. Data of tests, documents
// that are named as what they are, and pictures that are not or that are executable, are evidence. Nothing is said of other
// pictures, sounds and fonts, of text in UTF-8, and of a published Gradle wrapper.
func Opaque(name string, content []byte, executable bool) (holds []verdict.Hold, evidence []verdict.Evidence) {
	text := wide(content) != ""
	if !text && (len(content) == 0 || legible(content) != "" || published(name, content)) {
		return nil, nil
	}
	kind, ending := mimetype.Detect(content), strings.ToLower(path.Ext(name))
	runs := filekind.Code(name) || implicit(name) || bytes.HasPrefix(content, []byte("#!")) || text && builds(name)
	looks := !text && of(kind, shown)
	picture := looks && slices.Contains(pictures, ending)
	switch {
	case !runs && !executable && picture:
		return nil, nil
	// Some systems make every file executable. A picture runs only where a command calls it, which the session looks for.
	case !runs && (picture || !executable &&
		(filekind.InTests(name) || document(ending, kind, content) || looks && !slices.Contains(loaded, ending))):
		what := kind.String()
		if executable {
			what += ", executable"
		}
		return nil, []verdict.Evidence{{Kind: Data, Rule: rule, Path: name,
			Detail: fmt.Sprintf("The diff shows no line of this file (%s). Find what reads it, and whether anything executes or unpacks it.", what)}}
	}
	detail := "The binary file is a program, an archive or of an unknown kind: no review can read what it holds. Look where it comes from, " +
		"and whether it is what its source makes."
	if text {
		detail = "The file is text in UTF-16, of which git shows no line: the review did not see what it says. Read it, or have it " +
			"saved in UTF-8."
	}
	return []verdict.Hold{{Kind: verdict.HiddenText, Rule: rule, Path: name, Detail: detail}}, nil
}

// Exposed reports whether a file with the same content may do more under another name. For code there is no such name.
func Exposed(before, after string) bool {
	return !filekind.Code(before) && (filekind.InTests(before) && !filekind.InTests(after) || filekind.Code(after) || implicit(after) ||
		!strings.EqualFold(path.Ext(before), path.Ext(after)))
}

// of reports whether a content type begins with one of these names.
func of(kind *mimetype.MIME, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(kind.String(), name) })
}

// Elsewhere is the hold for a new or moved submodule. doubt says, as half a sentence, why its move may not be an
// ordinary one; empty if nobody asked. It comes first, since a record cuts the end of a long text off.
func Elsewhere(name, commit, doubt string) verdict.Hold {
	detail := fmt.Sprintf("The submodule brings in commit %s of another repository, whose content is no part of this review. Look what it "+
		"changes there.", commit)
	if doubt != "" {
		detail = fmt.Sprintf("It is held because %s. %s", strings.TrimSuffix(doubt, "."), detail)
	}
	return verdict.Hold{Kind: verdict.HiddenText, Rule: rule, Path: name, Detail: detail}
}

// Redirected is the hold for a .gitmodules that gives submodules, which stay where they are, another address or branch. Without
// any, it cannot be read.
func Redirected(name string, submodules []string) verdict.Hold {
	detail := "This file cannot be read as git reads it, so where the submodules lead is not known. Look what it says."
	if len(submodules) > 0 {
		which := verdict.Clip(strconv.Quote(submodules[0]), 100) // a record keeps 400 bytes
		if more := len(submodules) - 1; more > 0 {
			which += fmt.Sprintf(" and %d more", more)
		}
		detail = fmt.Sprintf("The change gives another address or branch to submodules that it does not move: %s. Whoever may push there "+
			"decides what they bring from then on, since a move along that branch needs no person. Look whose these are.", which)
	}
	return verdict.Hold{Kind: verdict.HiddenText, Rule: rule, Path: name, Detail: detail}
}

// Move is how a submodule moves along a branch of its repository.
type Move struct {
	From, To string // full SHAs of commits; From is in the history of To
	Repo     string // owner/name
	Branch   string // contains both
	Commits  int    // how many the move brings
	URL      string // where they can be read
}

// Moved is the evidence for a submodule that moves along a branch.
func Moved(name string, m Move) verdict.Evidence {
	return verdict.Evidence{Kind: Submodule, Rule: rule, Path: name,
		Detail: fmt.Sprintf("The submodule moves from %.12s to %.12s of %s, both on its branch %s. This brings %s, which no part of this review "+
			"shows (%s). Find what uses the submodule, and whether the move belongs to this change.", m.From, m.To, m.Repo, m.Branch,
			verdict.Amount(m.Commits, "commit", "commits"), m.URL)}
}
