package claude

import "touchstone/agent/engine"

// priced is the day on which prices were looked up.
const priced = "2026-10-24"

// prices are what the provider asks for a million tokens, looked up at
// https://platform.claude.com/docs/en/about-claude/pricing, with cache writes for five
// minutes. Where a price depends on the prompt's length, the higher one stands here. They
// count where the CLI does not tell, as when it was stopped, and bound what a session's
// commands can spend; the configuration's prices win.
var prices = engine.Prices{
	"claude-fable-":    {Input: 10, CacheWrite: 12.5, CacheRead: 1, Output: 50},
	"claude-mythos-":   {Input: 10, CacheWrite: 12.5, CacheRead: 1, Output: 50},
	"claude-opus-":     {Input: 5, CacheWrite: 6.25, CacheRead: 0.5, Output: 25},
	"claude-opus-4-0":  {Input: 15, CacheWrite: 18.75, CacheRead: 1.5, Output: 75},
	"claude-opus-4-1":  {Input: 15, CacheWrite: 18.75, CacheRead: 1.5, Output: 75},
	"claude-opus-4-20": {Input: 15, CacheWrite: 18.75, CacheRead: 1.5, Output: 75}, // a date
	"claude-sonnet-":   {Input: 3, CacheWrite: 3.75, CacheRead: 0.3, Output: 15},
	"claude-haiku-":    {Input: 1, CacheWrite: 1.25, CacheRead: 0.1, Output: 5},
}
