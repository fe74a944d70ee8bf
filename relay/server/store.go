package server

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"touchstone/relay/hub"
	"touchstone/relay/internal/firestore"
	"touchstone/relay/internal/sqlite"
)

// firestoreAddress matches firestore:PROJECT[/DATABASE], in the characters that Google allows.
var firestoreAddress = regexp.MustCompile(`^firestore:([a-z][a-z0-9.:-]{1,60}[a-z0-9])(?:/(\(default\)|[a-z][a-z0-9-]{2,61}[a-z0-9]))?$`)

// ValidateStore reports what is wrong with a store's address, without opening the store.
func ValidateStore(address string) error {
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok && path != "" {
		return nil
	}
	if firestoreAddress.MatchString(address) {
		return nil
	}
	return fmt.Errorf("%q is not a store; write sqlite:PATH or firestore:PROJECT[/DATABASE], such as sqlite:relay.db", address)
}

// StorePath returns the file of an embedded store, with all links resolved; false for other stores. It leaves
// it to the store to report what is wrong with a path.
func StorePath(address string) (path string, ok bool) {
	if path, ok = strings.CutPrefix(address, "sqlite:"); !ok {
		return "", false
	}
	if own, err := sqlite.Resolve(path); err == nil {
		path = own
	}
	return path, true
}

// OpenStore opens the store at an address such as "sqlite:relay.db" or "firestore:acme-hooks" and creates its
// log if there is none. The caller closes it.
func OpenStore(ctx context.Context, address string) (hub.Store, error) {
	return openStore(ctx, address, sqlite.Open)
}

// OpenExistingStore is OpenStore for a store whose file has to hold a log already.
func OpenExistingStore(ctx context.Context, address string) (hub.Store, error) {
	return openStore(ctx, address, sqlite.OpenExisting)
}

func openStore(ctx context.Context, address string, embedded func(context.Context, string) (*sqlite.Store, error)) (hub.Store, error) {
	if err := ValidateStore(address); err != nil {
		return nil, err
	}
	if name := firestoreAddress.FindStringSubmatch(address); name != nil {
		store, err := firestore.Open(ctx, name[1], name[2])
		if err != nil {
			return nil, err
		}
		return store, nil
	}
	store, err := embedded(ctx, strings.TrimPrefix(address, "sqlite:"))
	if err != nil {
		return nil, err
	}
	return store, nil
}

// RenewLog gives the log at an address a new id, and returns it. No relay may use the store meanwhile.
func RenewLog(ctx context.Context, address string) (log string, err error) {
	if err := ValidateStore(address); err != nil {
		return "", err
	}
	if name := firestoreAddress.FindStringSubmatch(address); name != nil {
		return firestore.Renew(ctx, name[1], name[2])
	}
	return sqlite.Renew(ctx, strings.TrimPrefix(address, "sqlite:"))
}
