// Package command is how the programs of this folder read their flags and end.
package command

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// ParseFlags reads the flags of a program that takes no other arguments. If there are others, or if complete is set
// and returns false, it prints the usage and exits with 2.
func ParseFlags(usage string, complete func() bool) {
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 || complete != nil && !complete() {
		flag.Usage()
		os.Exit(2)
	}
}

// Run runs a program until it ends or is interrupted or terminated. It exits with 1 after an error, which it prints behind the
// program's name, and if the result is not what it has to be.
func Run(name string, run func(context.Context) (good bool, err error)) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	good, err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
	}
	if err != nil || !good {
		os.Exit(1)
	}
}
