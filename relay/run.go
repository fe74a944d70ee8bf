package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"touchstone/relay/server"
	"touchstone/relay/token"
	"touchstone/worktree/atomicfile"
	"touchstone/worktree/build"
)

// serve opens everything that the configuration names, runs the relay, and closes everything again.
func serve(ctx context.Context, config Config, addressFile string) (err error) {
	sources, err := config.sources()
	if err != nil {
		return usageError{err}
	}
	missed, err := config.recovery(sources)
	if err != nil {
		return usageError{err}
	}
	proxies, err := config.proxies()
	if err != nil {
		return usageError{err}
	}
	encryption, err := config.encryption(nil)
	if err != nil {
		return usageError{err}
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", config.Listen)
	if err != nil {
		return unheard(err)
	}
	defer listener.Close()
	store, err := server.OpenStore(ctx, config.Store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	tokens, err := token.NewChecker(ctx, tokenStore(config.Store, store))
	if err != nil {
		return err
	}
	page, removePage, err := config.pageFile()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removePage()) }()
	relay, err := server.New(ctx, server.Config{
		Listener: listener, TLS: encryption, Tokens: tokens, Store: store, Sources: sources, Retention: time.Duration(config.Retention),
		Recovery: missed, TrustedProxies: proxies, PublicURL: strings.TrimSuffix(config.PublicURL, "/"),
		Page: &server.Page{File: page, Reviewers: config.Reviewers, NeedsHuman: config.NeedsHuman,
			GitHub: config.githubSources(), Store: config.Store, Version: build.Version()},
	})
	if errors.Is(err, server.ErrUnprotected) {
		return usageError{fmt.Errorf("the relay cannot listen on %s: %w", config.Listen, server.ErrUnprotected)}
	}
	if err != nil {
		return err
	}
	address := listener.Addr().String()
	log := zerolog.Ctx(ctx)
	scheme := "http://"
	if encryption != nil {
		scheme = "https://"
	}
	log.Info().Str("address", scheme+address).Str("store", config.Store).Stringer("retention", config.Retention).Msg("relay listening")
	if tcp, ok := listener.Addr().(*net.TCPAddr); encryption == nil && (!ok || !tcp.IP.IsLoopback()) {
		log.Warn().Msg("connections are not encrypted; allow only a proxy that ends TLS to reach this address, or give --tls-cert and --tls-key")
	}
	if names := config.short(); len(names) > 0 {
		log.Warn().Strs("sources", names).Msg("the secret is short enough to be found by trying; make one of 32 random bytes, " +
			"openssl rand -hex 32, and set it here and at the sender")
	}
	if addressFile != "" {
		if err := atomicfile.Write(addressFile, []byte(address+"\n")); err != nil {
			return fmt.Errorf("write the address file: %w", err)
		}
		defer os.Remove(addressFile)
	}
	if err := relay.Run(ctx); err != nil {
		return err
	}
	log.Info().Msg("relay stopped")
	return nil
}

// unheard adds what to do to the error of an address that cannot be listened on; the error names the address.
func unheard(err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%w by another program; stop it, or choose another address with --listen", err)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%w; run this as root, which ports below 1024 need, or choose another address with --listen", err)
	}
	return fmt.Errorf("%w; choose another address with --listen", err)
}
