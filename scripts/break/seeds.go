package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"touchstone/scripts/program"
	"touchstone/worktree/steps"
)

// seedList lists the weaknesses that are built into programs, to check that attacks find them.
//
//go:embed seeds.yaml
var seedList []byte

// seed is a weakness: a text of a source file, and what the weak program has in its place.
type seed struct {
	File, Old, Weak string
	// Attacks are the names of the attacks that the weakness lets succeed.
	Attacks []string
}

func readSeeds() []seed {
	var all []seed
	steps.Must(yaml.UnmarshalWithOptions(seedList, &all, yaml.Strict()))
	return all
}

// trySeeds makes each attack on programs with each weakness for it, and returns how many weaknesses the attacks
// did not find.
func trySeeds(ctx context.Context, attacks []attack) (missed int) {
	tried := 0
	for _, s := range readSeeds() {
		meant := slices.DeleteFunc(slices.Clone(attacks), func(a attack) bool { return !slices.Contains(s.Attacks, a.name) })
		if len(meant) == 0 {
			continue
		}
		folder := steps.Got(os.MkdirTemp("", "break"))
		defer os.RemoveAll(folder)
		unbuilt := steps.Try(func() { s.build(ctx, folder) })
		for _, a := range meant {
			tried++
			achieved, err := "", unbuilt
			if err == nil {
				err = steps.Try(func() { achieved = a.make(ctx, folder) })
			}
			switch {
			case errors.Is(err, errSkipped):
				tried--
				fmt.Printf("%-50s weak in %s, SKIPPED: %v\n", a.name, s.File, err)
			case err != nil:
				missed++
				fmt.Printf("%-50s weak in %s, could not be tried: %v\n", a.name, s.File, err)
			case achieved == "":
				missed++
				fmt.Printf("%-50s weak in %s, NOT SEEN\n", a.name, s.File)
			default:
				fmt.Printf("%-50s weak in %s, seen: %s\n", a.name, s.File, achieved)
			}
		}
	}
	fmt.Printf("break: %d weaknesses seeded, %d seen\n", tried, tried-missed)
	return missed
}

// build builds the weak program into a directory.
func (s seed) build(ctx context.Context, folder string) {
	name, source := "touchstone", "./agent"
	if strings.HasPrefix(s.File, "relay/") {
		name, source = "touchstone-relay", "./relay"
	}
	file := steps.Got(filepath.Abs(filepath.FromSlash(s.File)))
	steps.Must(program.Build(ctx, filepath.Join(folder, name), source, program.Change{File: file, Old: s.Old, New: s.Weak}))
}
