package reviewer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// maxTemplates bounds how many templates are read.
const maxTemplates = 50

// templates are the texts that GitHub puts into new pull requests and issues, as
// they are on the base: whoever leaves them in hides nothing.
// See https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests.
func templates(ctx context.Context, s Subject) ([]string, error) {
	var texts []string
	dirs := []string{".", ".github", "docs"}
	for len(dirs) > 0 {
		dir := dirs[0]
		dirs = dirs[1:]
		names, err := s.Files.ReadDir(ctx, s.Base, dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look for templates on the base: %w", err)
		}
		for _, name := range names {
			lower := strings.ToLower(name)
			known := strings.HasPrefix(lower, "pull_request_template") || strings.HasPrefix(lower, "issue_template")
			inside := strings.HasSuffix(strings.ToLower(dir), "_template") && path.Ext(lower) == ".md"
			switch {
			case known && strings.HasSuffix(name, "/"):
				dirs = append(dirs, path.Join(dir, name))
			case (known || inside) && len(texts) < maxTemplates:
				text, err := s.Files.ReadFile(ctx, s.Base, path.Join(dir, name))
				if ctx.Err() != nil {
					return nil, fmt.Errorf("read the base's templates: %w", err)
				}
				if err == nil { // one that is no readable file excuses nothing
					texts = append(texts, string(text))
				}
			}
		}
	}
	return texts, nil
}
