package compose

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/engine/sandbox"
)

// pricesLast is the number of days for which prices count as current; providers change them a few times a
// year.
const pricesLast = 90

// Stale returns a phrase to append to a day if the day is too long ago for prices. It returns "" for a recent
// day, and for text that is not a date.
func Stale(day string, now time.Time) string {
	date, err := time.Parse(time.DateOnly, day)
	if age := int(now.Sub(date).Hours() / 24); err == nil && age > pricesLast {
		return fmt.Sprintf(", which is %d days ago", age)
	}
	return ""
}

// CheckPrices reports what is wrong with the price table, for engines that do not report what their models
// cost: it is too old or missing.
func CheckPrices(cfg config.Config, unpriced []string, now time.Time) error {
	date, err := time.Parse(time.DateOnly, cfg.Prices.Date)
	age := int(now.Sub(date).Hours() / 24)
	switch {
	case len(cfg.Prices.Models) == 0 && len(unpriced) > 0:
		return fmt.Errorf("%s does not report what its models cost, so they count as the most expensive ones and budgets end too early; set "+
			"prices.date and prices.models", unpriced[0])
	case len(cfg.Prices.Models) == 0:
		return nil
	case err != nil:
		return fmt.Errorf("prices.date is %q, which is not a date such as 2026-01-31; set it to the day on which you looked up the prices",
			cfg.Prices.Date)
	case age < -1: // it may already be tomorrow elsewhere
		return fmt.Errorf("prices.date is %s, which is in the future; set it to the day on which you looked up the prices",
			cfg.Prices.Date)
	case Stale(cfg.Prices.Date, now) != "":
		return fmt.Errorf("the prices are of %s%s; look them up again and set prices.date", cfg.Prices.Date, Stale(cfg.Prices.Date, now))
	}
	return nil
}

// logAccess logs what is not ideal about the coming sessions.
func logAccess(ctx context.Context, cfg config.Config, v engine.Version) {
	log := zerolog.Ctx(ctx)
	if v.Direct != "" {
		log.Info().Str("engine", v.Engine).Msgf("sessions of %s ask their provider directly, not through the gateway, since %s", v.Engine,
			v.Direct)
	}
	if v.Lacks != "" {
		log.Warn().Str("engine", v.Engine).Msg(v.Lacks)
	}
	var unpriced []string
	if v.Priced == "" {
		unpriced = []string{v.Engine}
	}
	if err := CheckPrices(cfg, unpriced, time.Now()); err != nil {
		log.Warn().Err(err).Msg("what sessions cost is not known well")
	}
	if cfg.Engine.Sandbox == config.Off {
		return
	}
	if _, err := sandbox.Level(); err != nil {
		log.Warn().Err(err).Msg("nothing confines the model CLI and the commands of fixes, which can read all that this user can, this " +
			"agent's tokens too; run the agent as a user of its own, or on a newer system; engine.sandbox: required would run none of them")
	}
}
