package change

import (
	"strings"
	"testing"
)

func TestPointersAreNamed(t *testing.T) {
	t.Parallel()
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:%\nsize 12\n"
	at := func(oid string) string { return strings.Replace(pointer, "%", strings.Repeat(oid, 64), 1) }
	c := changed(t, map[string]string{"model.bin": at("a"), "docs/lfs.md": "x\n"},
		map[string]string{"model.bin": at("b"), "docs/lfs.md": "See https://git-lfs.github.com/spec/v1\n"})
	for _, f := range c.Files {
		if named := strings.Contains(f.Note, "Git LFS"); named != (f.Path == "model.bin") {
			t.Errorf("%s is noted as %q", f.Path, f.Note)
		}
	}
}
