//go:build !linux

package process

import "errors"

func installed() (int64, error) {
	return 0, errors.New("only Linux can limit what a session and a verify command use together")
}

// Holder says how bounds are enforced on this machine. The error says why they are not.
func Holder() (string, error) {
	_, err := installed()
	return "", err
}
