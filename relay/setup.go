package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"touchstone/worktree/build"
	"touchstone/worktree/service"
)

// setup has the flags of `touchstone-relay up`.
type setup struct {
	domain, dir, listen, addressFile string
	reviewers                        []string
	asService                        bool
}

func (u *setup) file(name string) string { return filepath.Join(u.dir, name) }

// find sets the directory.
func (u *setup) find() error {
	dir, err := filepath.Abs(cmp.Or(u.dir, stateDir()))
	if err != nil {
		return fmt.Errorf("find the relay's directory: %w", err)
	}
	u.dir = dir
	return nil
}

// settings returns the settings of the file, overridden by the flags.
func (u *setup) settings(cmd *cobra.Command) (Config, error) {
	config := defaultConfig()
	if err := config.load(u.file("relay.yaml")); err != nil {
		return config, usageError{errors.Join(err, config.validateServer())}
	}
	if u.domain != "" && config.Domain != u.domain {
		return config, usageError{fmt.Errorf("%s was set up without the domain %s; set domain, public_url and listen (:443 for all addresses of "+
			"this machine) in that file", u.file("relay.yaml"), u.domain)}
	}
	for _, login := range u.reviewers {
		if !slices.ContainsFunc(config.Reviewers, func(known string) bool { return strings.EqualFold(known, login) }) {
			return config, usageError{fmt.Errorf("%s was set up without the reviewer %s; add it to reviewers in that file", u.file("relay.yaml"),
				login)}
		}
	}
	if cmd.Flags().Changed("listen") {
		config.Listen = u.listen
	}
	if err := config.validate(); err != nil {
		return config, usageError{err}
	}
	return config, nil
}

// service returns the service that runs the relay of this directory.
func (u *setup) service() (service.Service, error) {
	found, err := service.Here("touchstone-relay", build.Version(), "serve", "--config", u.file("relay.yaml"))
	if os.Geteuid() == 0 {
		found.Directory = u.dir
	}
	return found, err
}

// install installs that service and prints where it is described.
func (u *setup) install(ctx context.Context, out io.Writer) error {
	found, err := u.service()
	if err != nil {
		return err
	}
	path, err := found.Install(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "service   described in %s; see touchstone-relay service logs -f\n", path)
	return nil
}
