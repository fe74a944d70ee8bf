package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"touchstone/relay/hub"
	"touchstone/relay/server"
	"touchstone/relay/token"
)

// tokenPlace says which relay's tokens a command is about.
type tokenPlace struct{ config, store string }

func (p *tokenPlace) bind(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&p.store, "store", "", "where the relay keeps its log (default "+defaultConfig().Store+")")
	cmd.PersistentFlags().StringVar(&p.config, "config", "",
		"read the store's address from this YAML file (default the one that up wrote, if there is no log here)")
}

// orSetUp returns this place or, if it is empty and there is no log here, the place of the relay that up has
// set up.
func (p tokenPlace) orSetUp() tokenPlace {
	path, _ := server.StorePath(defaultConfig().Store)
	if _, err := os.Stat(path); p == (tokenPlace{}) && errors.Is(err, fs.ErrNotExist) {
		p.config = setUp()
	}
	return p
}

// configuration returns the configuration in the place's file, over the defaults.
func (p tokenPlace) configuration() (Config, error) {
	p = p.orSetUp()
	config := defaultConfig()
	if p.config == "" {
		return config, nil
	}
	return config, config.load(p.config)
}

// add stores new tokens or invitations, all or none. It fails if no place is named and there is no log here:
// then this is the wrong directory, and no relay would ever know the token.
func (p tokenPlace) add(ctx context.Context, made ...token.Token) error {
	p = p.orSetUp()
	if path, ok := server.StorePath(defaultConfig().Store); ok && p == (tokenPlace{}) {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return usageError{fmt.Errorf("no relay's log found in %s; run this where the relay runs, or say where the log is with --store or "+
				"--config", path)}
		}
	}
	return p.open(ctx, func(store token.Store) error { return token.Add(ctx, store, made...) })
}

// open calls do with the tokens of the relay that the flags name.
func (p tokenPlace) open(ctx context.Context, do func(token.Store) error) (err error) {
	config, err := p.configuration()
	if err != nil {
		return usageError{err}
	}
	address := cmp.Or(p.store, config.Store)
	if err := server.ValidateStore(address); err != nil {
		return usageError{err}
	}
	if path, ok := server.StorePath(address); ok {
		if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) { // the store may not exist yet
			return checkThere(path)
		}
		return do(tokenStore(address, nil))
	}
	store, err := server.OpenStore(ctx, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return do(tokenStore(address, store))
}

// tokenStore returns where the tokens of a relay with this store are. They are beside an embedded store,
// which a running relay locks, and inside a store that relays share, which is a token.Shared.
func tokenStore(address string, store hub.Store) token.Store {
	if file, ok := tokenFile(address); ok {
		return file
	}
	return token.Notes{Notebook: store.(token.Shared)}
}

func tokenFile(address string) (token.File, bool) {
	path, ok := server.StorePath(address)
	return token.File{Path: path + ".tokens"}, ok
}

// stateDir returns where a relay keeps everything by default.
func stateDir() string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "touchstone-relay")
	}
	if os.Geteuid() == 0 {
		return "/var/lib/touchstone-relay"
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "touchstone-relay"
	}
	return filepath.Join(home, ".local", "state", "touchstone-relay")
}

// setUp returns the settings file of a relay that up has set up in the default place; empty if there is none.
func setUp() string {
	path := filepath.Join(stateDir(), "relay.yaml")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// checkThere reports that the embedded store to read does not exist.
func checkThere(path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return usageError{fmt.Errorf("store %s not found; say which one with --store", path)}
	}
	return nil
}
