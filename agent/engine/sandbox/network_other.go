//go:build !linux

package sandbox

import "errors"

func network() error { return errors.New("only Linux can limit connections") }
