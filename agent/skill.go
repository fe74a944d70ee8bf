package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/skill"
)

func newSkill() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "skill",
		Short: "Teach a coding session to ask for reviews",
		Long: `skill gives the model CLI that you code with a document that it reads when you
ask it for a review: how to have the working tree reviewed, what to do about
findings, how to contradict one, and what to leave to you. It is a file in the
Agent Skills format below your home directory. It has no effect on the reviews
of pull requests, which never load skills.`,
		Example: "  touchstone skill install                  # for every model CLI that is here\n" +
			"  touchstone skill install --for claude\n  mkdir -p .agents/skills/touchstone\n" +
			"  touchstone skill print > .agents/skills/touchstone/SKILL.md",
	}
	var programs []string
	var force bool
	// each is a command that does something to the skill of each program, and says what, or that it was not needed.
	each := func(use, short, did, not string, do func(path string) (bool, error)) *cobra.Command {
		c := &cobra.Command{
			Use: use, Short: short,
			RunE: func(cmd *cobra.Command, _ []string) error {
				paths, err := skillPaths(cmd, programs)
				if err != nil {
					return err
				}
				var failed []error
				for _, path := range paths {
					word := not
					done, err := do(path)
					if done {
						word = did
					}
					if failed = append(failed, err); err == nil {
						fmt.Fprintf(cmd.OutOrStdout(), "%-10s %s\n", word, path)
					}
				}
				return errors.Join(failed...)
			},
		}
		c.Flags().StringSliceVar(&programs, "for", nil, strings.Join(skill.Programs(), ", ")+" (default those that are on PATH)")
		return c
	}
	install := each("install", "Write the skill where the model CLIs look for it", "wrote", "unchanged",
		func(path string) (bool, error) { return skill.Install(path, force) })
	install.Flags().BoolVar(&force, "force", false, "replace another skill of that name")
	uninstall := each("uninstall", "Delete the skill where install wrote it", "deleted", "not there", skill.Remove)
	show := &cobra.Command{
		Use: "print", Short: "Print the skill",
		RunE: func(cmd *cobra.Command, _ []string) error { _, err := cmd.OutOrStdout().Write(skill.Text); return err },
	}
	cmd.AddCommand(install, uninstall, show)
	return cmd
}

// skillPaths are the places of the skill for the given programs, or for those on PATH if none is given.
func skillPaths(cmd *cobra.Command, programs []string) ([]string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	if len(programs) == 0 {
		programs = slices.DeleteFunc(skill.Programs(), func(p string) bool { _, err := exec.LookPath(p); return err != nil })
	}
	if len(programs) == 0 {
		return nil, fmt.Errorf("none of %s is on PATH; name one with --for", strings.Join(skill.Programs(), ", "))
	}
	var paths []string
	for _, p := range programs {
		path, err := skill.Path(home, p)
		if err != nil {
			return nil, cli.Usage(cmd, err)
		}
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil // two programs may share a path
}
