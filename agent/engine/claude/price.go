package claude

import "touchstone/agent/engine"

// priced is the day on which the prices were looked up.
const priced = "2026-10-24"

// prices are the provider's prices for a million tokens, from
// https://platform.claude.com/docs/en/about-claude/pricing, with cache writes for five minutes. Where a price
// depends on the prompt's length, this is the higher one. They are used when the CLI reports no cost, for
// instance after it was stopped, and to bound what a session's commands can spend. Prices in the
// configuration override them.
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
