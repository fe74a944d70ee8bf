package enginetest

import (
	"crypto/sha256"
	"time"

	"touchstone/verdict"
)

// lifetime is how long a provider keeps a cached prompt after its last use: Anthropic's shortest, and the
// least that OpenAI mentions.
const lifetime = 5 * time.Minute

// promptCache is a provider's prompt cache. A key is a hash of a prompt's beginning and of whatever else the
// provider keys its cache by.
type promptCache struct {
	now  func() time.Time
	kept map[[sha256.Size]byte]time.Time // the time at which it expires
}

// has reports whether a beginning is cached, and renews it.
func (c *promptCache) has(key [sha256.Size]byte) bool {
	if until, ok := c.kept[key]; !ok || c.now().After(until) {
		return false
	}
	c.keep(key)
	return true
}

func (c *promptCache) keep(key [sha256.Size]byte) {
	c.kept[key] = c.now().Add(lifetime)
}

// beginnings are the keys of a prompt's first piece, of its first two, and so on.
func beginnings(by string, p prompt) [][sha256.Size]byte {
	keys := make([][sha256.Size]byte, len(p))
	last := sha256.Sum256([]byte(by))
	for i, one := range p {
		last = sha256.Sum256(append(last[:], one.text...))
		keys[i] = last
	}
	return keys
}

// Anthropic's rules (https://docs.claude.com/en/docs/build-with-claude/prompt-caching): a prompt consists of
// its tools, its system blocks and its messages, in this order. The provider caches each beginning that ends
// in a mark, if it is long enough; four marks count. For each mark, starting with the last one, it looks for
// a cached beginning there and at the blocks before it, twenty in all.
const (
	maxMarks = 4
	lookBack = 20
	// leastMarked is the minimum of most models; a few require 2,048 or 4,096.
	leastMarked = 1024
)

func (c *promptCache) anthropic(model string, p prompt) (u verdict.Usage) {
	keys := beginnings(model, p)
	var marks []int
	for i := len(p) - 1; i >= 0 && len(marks) < maxMarks; i-- {
		if p[i].marked {
			marks = append(marks, i)
		}
	}
	read := 0 // pieces
	for _, mark := range marks {
		for i := mark; i >= max(0, mark-lookBack+1) && read == 0; i-- {
			if p.tokens(i+1) >= leastMarked && c.has(keys[i]) {
				read = i + 1
			}
		}
	}
	written := read
	for _, mark := range marks {
		if p.tokens(mark+1) >= leastMarked {
			c.keep(keys[mark])
			written = max(written, mark+1)
		}
	}
	u.CacheRead = p.tokens(read)
	u.CacheWrite = p.tokens(written) - u.CacheRead
	u.Input = p.tokens(len(p)) - u.CacheRead - u.CacheWrite
	return u
}

// OpenAI's rules (https://platform.openai.com/docs/guides/prompt-caching): all prompts of 1,024 tokens or
// more are cached, and a common beginning is read from the cache in steps of 128 tokens. If the client sets a
// key, prompts with different keys are cached separately.
const (
	leastShared = 1024
	step        = 128
)

func (c *promptCache) openAI(key string, p prompt) (u verdict.Usage) {
	total := p.tokens(len(p))
	text := ""
	for _, one := range p {
		text += one.text
	}
	for n := int64(leastShared); n*perToken <= int64(len(text)); n += step {
		beginning := sha256.Sum256([]byte(key + "\x00" + text[:n*perToken]))
		if c.has(beginning) {
			u.CacheRead = n
		}
		c.keep(beginning)
	}
	u.Input = total - u.CacheRead
	return u
}
