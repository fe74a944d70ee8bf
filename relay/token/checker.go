package token

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"touchstone/relay/event"
	"touchstone/relay/internal/faults"
)

const (
	// refresh is how often a running relay looks for new and revoked tokens. The streams of a revoked token
	// have to end within 5 s, and a slow store has to fit in as well.
	refresh = 2 * time.Second
	// storeTimeout bounds one access to the store.
	storeTimeout = 3 * time.Second
)

// ErrRevoked is the cause with which a grant's contexts end.
var ErrRevoked = errors.New("the access token is no longer valid")

// Checker knows which tokens are valid now. The zero Checker has no tokens and lets every client read. Any
// number of goroutines may call its methods.
type Checker struct {
	store Store

	mu sync.Mutex
	// required stays true from the first token on, even if the store fails or loses its tokens.
	required bool
	grants   map[string]*Grant
	anybody  *Grant
	uses     Uses
	// readings counts the readings of the store that have begun; known is the number of the one that grants come from.
	readings, known int
}

// Grant is a valid token in use.
type Grant struct {
	// Token has no ID if no token is required.
	Token
	checker *Checker
	life    context.Context // ends when the token is revoked
	revoke  context.CancelCauseFunc
	open    int // requests under way; the checker's mutex guards it
}

func newGrant(checker *Checker, t Token) *Grant {
	g := &Grant{Token: t, checker: checker}
	g.life, g.revoke = context.WithCancelCause(context.Background())
	return g
}

// Context returns a context that ends with parent or, with ErrRevoked as its cause, when the token is
// revoked. The caller calls release when it is done.
func (g *Grant) Context(parent context.Context) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(parent)
	unlink := context.AfterFunc(g.life, func() { cancel(context.Cause(g.life)) })
	g.checker.use(g, 1)
	return ctx, func() {
		g.checker.use(g, -1)
		unlink()
		cancel(nil)
	}
}

// NewChecker reads the tokens once; Run keeps them up to date.
func NewChecker(ctx context.Context, store Store) (*Checker, error) {
	g := &Checker{store: store, uses: Uses{}}
	if err := g.load(ctx); err != nil {
		return nil, err
	}
	return g, nil
}

// Required reports whether reading takes a token. Once it does, it always will.
func (c *Checker) Required() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.required
}

// Check returns a token's grant, or false if the token does not exist or was revoked. If no token is
// required, any text grants everything.
func (c *Checker) Check(text string) (*Grant, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.required {
		if c.anybody == nil {
			c.anybody = newGrant(c, Token{Role: Admin})
		}
		return c.anybody, true
	}
	id, secret, ok := event.SplitToken(text, event.TokenPrefix)
	if !ok {
		return nil, false
	}
	// The time this takes may reveal that an id exists; an id is no secret.
	grant, ok := c.grants[id]
	if !ok || !grant.matches(secret) {
		return nil, false
	}
	c.uses.note(id, clock())
	return grant, true
}

// List returns all tokens and invitations, including revoked ones, and when each was last used.
func (c *Checker) List(ctx context.Context) ([]Token, Uses, error) {
	if c.store == nil {
		return nil, nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	tokens, err := c.store.Load(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("load access tokens: %w", err)
	}
	uses, err := c.store.Uses(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("read when access tokens were last used: %w", err)
	}
	for id, at := range c.seen() {
		uses.note(id, at)
	}
	return tokens, uses, nil
}

// Invited returns the invitation that a code would redeem, without redeeming it. The errors are those of
// Redeem.
func (c *Checker) Invited(ctx context.Context, code string) (Token, error) {
	if c.store == nil {
		return Token{}, ErrNoInvite
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	id, secret, err := parseCode(code)
	if err != nil {
		return Token{}, err
	}
	tokens, err := c.store.Load(ctx)
	if err != nil {
		return Token{}, err
	}
	i, err := invited(tokens, id, secret)
	if err != nil {
		return Token{}, err
	}
	return tokens[i], nil
}

// Redeem exchanges an invitation's code for a token that is valid at once. It works once for each code. It
// returns the invitation and the token's text, which cannot be retrieved later. The errors are ErrNoInvite,
// ErrInviteUsed and ErrInviteExpired, or say that the store cannot be written.
func (c *Checker) Redeem(ctx context.Context, code string) (invited Token, text string, err error) {
	if c.store == nil {
		return Token{}, "", ErrNoInvite
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	if invited, text, err = redeem(ctx, c.store, code); err != nil {
		return Token{}, "", err
	}
	return invited, text, c.load(ctx)
}

// Run keeps the tokens up to date until ctx ends, and records in the store which tokens are used. While the
// store cannot be read, the tokens known last stay valid; the log says so once a minute.
func (c *Checker) Run(ctx context.Context) error {
	if c.store == nil {
		<-ctx.Done()
		return nil
	}
	ticker, uses := time.NewTicker(refresh), time.NewTicker(usesEvery)
	defer ticker.Stop()
	defer uses.Stop()
	failing := false
	var said faults.Log
	for {
		select {
		case <-ctx.Done():
			c.noteUses(context.WithoutCancel(ctx)) // the uses since the last tick
			return nil
		case <-uses.C:
			c.noteUses(ctx)
			continue
		case <-ticker.C:
		}
		err := c.load(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			said.Write(ctx, zerolog.ErrorLevel, err, "cannot read the access tokens; those already loaded stay valid, and changes wait")
		}
		if err == nil && failing {
			zerolog.Ctx(ctx).Info().Msg("reading the access tokens works again")
			said = faults.Log{} // if it fails again, that line must not be the last one
		}
		failing = err != nil
	}
}

// load reads the store and ends the grants that are no longer valid. It also logs what an administrator
// changed in another process.
func (c *Checker) load(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	c.mu.Lock()
	c.readings++
	reading := c.readings
	c.mu.Unlock()
	tokens, err := c.store.Load(ctx)
	if err != nil {
		return fmt.Errorf("load access tokens: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if reading < c.known {
		return nil // a reading that began later knows more
	}
	c.known = reading
	if len(tokens) > 0 && !c.required {
		c.required = true
		if c.anybody != nil {
			c.anybody.revoke(ErrRevoked)
		}
	}
	log, first := zerolog.Ctx(ctx), c.grants == nil
	grants := map[string]*Grant{}
	for _, t := range tokens {
		if known, ok := c.grants[t.ID]; ok && known.same(t) {
			grants[t.ID] = known
		} else if t.Revoked == nil && t.Invite == nil {
			grants[t.ID] = newGrant(c, t)
			if !first {
				log.Info().Str("token", t.ID).Str("name", t.Name).Str("role", string(t.Role)).Msg("access token added")
			}
		}
	}
	for id, old := range c.grants {
		if grants[id] != old {
			old.revoke(ErrRevoked)
			log.Info().Str("token", id).Str("name", old.Name).Msg("access token revoked")
		}
	}
	c.grants = grants
	return nil
}
