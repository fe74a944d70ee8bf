package server

import (
	"context"
	"fmt"
	"strings"

	"touchstone/relay/hub"
	"touchstone/relay/internal/sqlite"
)

// ValidateStore reports what is wrong with a store's address, without opening it.
func ValidateStore(address string) error {
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok && path != "" {
		return nil
	}
	return fmt.Errorf("%q is no store; write sqlite:PATH, for example sqlite:relay.db", address)
}

// OpenStore opens the store at an address such as "sqlite:relay.db" and makes it if
// there is none. The caller closes it.
func OpenStore(ctx context.Context, address string) (hub.Store, error) {
	if err := ValidateStore(address); err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, strings.TrimPrefix(address, "sqlite:"))
	if err != nil {
		return nil, err
	}
	return store, nil
}
