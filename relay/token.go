package main

import (
	"strings"

	"touchstone/relay/hub"
	"touchstone/relay/token"
)

// tokenStore is where the tokens of a relay with this store are: beside an embedded
// one, which a running relay keeps to itself, and within one that relays share.
func tokenStore(address string, store hub.Store) token.Store {
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok {
		return token.File{Path: path + ".tokens"}
	}
	return token.Notes{Notebook: store}
}
