//go:build !linux

package process

import "errors"

func installed() (int64, error) {
	return 0, errors.New("what a session and a verify command use together is bounded on Linux alone")
}
