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
			"  touchstone skill install --for claude\n  touchstone skill print > .agents/skills/touchstone/SKILL.md",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var programs []string
	var force bool
	each := func(cmd *cobra.Command, do func(path string) error) error {
		home, err := os.UserHomeDir()
		if err != nil {
			return err
		}
		if len(programs) == 0 {
			programs = slices.DeleteFunc(skill.Programs(), func(p string) bool { _, err := exec.LookPath(p); return err != nil })
		}
		if len(programs) == 0 {
			return fmt.Errorf("none of %s is on PATH; name one with --for", strings.Join(skill.Programs(), ", "))
		}
		var paths []string
		for _, p := range programs {
			path, err := skill.Path(home, p)
			if err != nil {
				return cli.Usage(cmd, err)
			}
			paths = append(paths, path)
		}
		slices.Sort(paths)
		var failed []error
		for _, path := range slices.Compact(paths) { // two programs may share a path
			failed = append(failed, do(path))
		}
		return errors.Join(failed...)
	}
	install := &cobra.Command{
		Use: "install", Short: "Write the skill where the model CLIs look for it", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return each(cmd, func(path string) error {
				changed, err := skill.Install(path, force)
				if err != nil {
					return err
				}
				word := "unchanged"
				if changed {
					word = "wrote"
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%-10s %s\n", word, path)
				return nil
			})
		},
	}
	install.Flags().BoolVar(&force, "force", false, "replace another skill of that name")
	uninstall := &cobra.Command{
		Use: "uninstall", Short: "Delete the skill where install wrote it", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return each(cmd, func(path string) error {
				removed, err := skill.Remove(path)
				if err != nil {
					return err
				}
				word := "not there"
				if removed {
					word = "deleted"
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%-10s %s\n", word, path)
				return nil
			})
		},
	}
	for _, c := range []*cobra.Command{install, uninstall} {
		c.Flags().StringSliceVar(&programs, "for", nil, strings.Join(skill.Programs(), ", ")+" (default those that are on PATH)")
	}
	show := &cobra.Command{
		Use: "print", Short: "Print the skill", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { _, err := cmd.OutOrStdout().Write(skill.Text); return err },
	}
	cmd.AddCommand(install, uninstall, show)
	return cmd
}
