package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"

	"touchstone/relay/server"
	"touchstone/relay/source"
	"touchstone/scripts/benchmark"
	"touchstone/scripts/program"
	"touchstone/worktree/steps"
)

// static is the reference for a page: 100 KB that need no work.
var static = bytes.Repeat([]byte("0123456789"), 10_000)

// serve runs the relay until it is interrupted: with its page in a file, or without a page.
func serve(ctx context.Context, store, page, addressFile string) {
	opened := steps.Got(server.OpenStore(ctx, "sqlite:"+store))
	defer steps.Finally(opened.Close)
	listener := steps.Got(net.Listen("tcp", "127.0.0.1:0"))
	config := server.Config{Listener: listener, Store: opened,
		Sources: map[string]server.Source{"github": source.GitHub{Secret: benchmark.Secret}}}
	if page != "none" {
		config.Page = &server.Page{File: page, Reviewers: []string{judge}, GitHub: []string{"github"}, Store: "sqlite:" + store, Version: "bench"}
	}
	s := steps.Got(server.New(ctx, config))
	beside := steps.Got(net.Listen("tcp", "127.0.0.1:0"))
	go func() {
		_ = http.Serve(beside, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(static) }))
	}()
	text := fmt.Sprintf("%s %s\n", listener.Addr(), beside.Addr())
	steps.Must(os.WriteFile(addressFile, []byte(text), 0o600))
	steps.Must(s.Run(ctx))
}

// process is a running relay, together with the server of the static answer.
type process struct {
	*program.Process
	address, static string
}

// start starts a relay over a store, with its page in a file or, for "none", without a page.
func start(ctx context.Context, dir, store, page string) *process {
	addressFile := filepath.Join(dir, "address")
	command := exec.CommandContext(ctx, os.Args[0], "serve", store, page, addressFile)
	command.Stderr = os.Stderr
	started := steps.Got(program.Start(ctx, command, addressFile))
	return &process{started, "http://" + started.Addresses[0], "http://" + started.Addresses[1]}
}

func (p *process) stop() { p.Stop(os.Interrupt) }

// post delivers one signed webhook of a pull request, different from all others, and requires that it is stored.
func (p *process) post(ctx context.Context, like []byte) error {
	return benchmark.Post(ctx, p.Client, p.address, "pull_request", benchmark.Fresh(like))
}
