package token

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

const (
	// refresh is how often a running relay looks for new and revoked tokens. A revoked
	// token's streams end within 5 s, and a slow store has to fit in as well.
	refresh = 2 * time.Second
	// storeTimeout bounds one look.
	storeTimeout = 3 * time.Second
)

// ErrRevoked is the cause with which a grant's contexts end.
var ErrRevoked = errors.New("the access token is no longer good")

// Guard knows which tokens are good now. The zero Guard has no tokens and lets
// everybody read. Its methods may be called from many goroutines.
type Guard struct {
	store Store

	mu sync.Mutex
	// required stays true from the first token on, whatever happens to the store.
	required bool
	grants   map[string]*Grant
	anybody  *Grant
	uses     Uses
}

// Grant is a good token in use.
type Grant struct {
	// Token has no ID where no token is required.
	Token
	guard  *Guard
	life   context.Context // ends when the token is revoked
	revoke context.CancelCauseFunc
	open   int // requests under way, under the guard's mutex
}

func newGrant(guard *Guard, t Token) *Grant {
	g := &Grant{Token: t, guard: guard}
	g.life, g.revoke = context.WithCancelCause(context.Background())
	return g
}

// Context returns a context that ends with parent, or with ErrRevoked as its cause
// when the token is revoked. The caller calls release when it is done.
func (g *Grant) Context(parent context.Context) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(parent)
	unlink := context.AfterFunc(g.life, func() { cancel(context.Cause(g.life)) })
	g.guard.use(g, 1)
	return ctx, func() {
		g.guard.use(g, -1)
		unlink()
		cancel(nil)
	}
}

// NewGuard reads the tokens once; Run keeps up with them.
func NewGuard(ctx context.Context, store Store) (*Guard, error) {
	g := &Guard{store: store, uses: Uses{}}
	if err := g.load(ctx); err != nil {
		return nil, err
	}
	return g, nil
}

// Required reports whether reading takes a token. Once it does, it always will.
func (g *Guard) Required() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.required
}

// Check returns the grant of a token, and false when there is none such or it was
// revoked. Where no token is required, any text gets everything.
func (g *Guard) Check(text string) (*Grant, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.required {
		if g.anybody == nil {
			g.anybody = newGrant(g, Token{Role: Admin})
		}
		return g.anybody, true
	}
	id, secret, err := parse(text)
	if err != nil {
		return nil, false
	}
	// That an id exists may show in the time this takes: an id is no secret.
	grant, ok := g.grants[id]
	if !ok || !grant.matches(secret) {
		return nil, false
	}
	g.uses.note(id, clock())
	return grant, true
}

// Run keeps up with the store until ctx ends, and notes there which tokens are used.
// While the store cannot be read, what was known last stays good; the log says so once.
func (g *Guard) Run(ctx context.Context) error {
	if g.store == nil {
		<-ctx.Done()
		return nil
	}
	ticker, uses := time.NewTicker(refresh), time.NewTicker(usesEvery)
	defer ticker.Stop()
	defer uses.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			g.noteUses(context.WithoutCancel(ctx)) // those since the last time
			return nil
		case <-uses.C:
			g.noteUses(ctx)
			continue
		case <-ticker.C:
		}
		err := g.load(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && !failing {
			zerolog.Ctx(ctx).Error().Err(err).Msg("the access tokens cannot be read; those known stay good, and changes wait")
		}
		if err == nil && failing {
			zerolog.Ctx(ctx).Info().Msg("the access tokens can be read again")
		}
		failing = err != nil
	}
}

// load takes over what the store holds and ends the grants that are no longer good.
// What an administrator did in another process gets into this one's log here.
func (g *Guard) load(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	tokens, err := g.store.Load(ctx)
	if err != nil {
		return fmt.Errorf("load access tokens: %w", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(tokens) > 0 && !g.required {
		g.required = true
		if g.anybody != nil {
			g.anybody.revoke(ErrRevoked)
		}
	}
	log, first := zerolog.Ctx(ctx), g.grants == nil
	grants := map[string]*Grant{}
	for _, t := range tokens {
		if known, ok := g.grants[t.ID]; ok && known.same(t) {
			grants[t.ID] = known
		} else if t.Revoked == nil {
			grants[t.ID] = newGrant(g, t)
			if !first {
				log.Info().Str("token", t.ID).Str("name", t.Name).Str("role", string(t.Role)).Msg("access token added")
			}
		}
	}
	for id, old := range g.grants {
		if grants[id] != old {
			old.revoke(ErrRevoked)
			log.Info().Str("token", id).Str("name", old.Name).Msg("access token revoked")
		}
	}
	g.grants = grants
	return nil
}
