package recovery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// ErrNotListed is returned for a delivery that GitHub lists for none of the hooks.
var ErrNotListed = errors.New("delivery not found at GitHub, for the webhooks this relay recovers; GitHub keeps deliveries for three days")

// Again asks GitHub to redeliver a delivery to one of this relay's sources. If the log holds the delivery,
// the redelivery is a duplicate; otherwise it is stored.
func (r *Recovery) Again(ctx context.Context, source, delivery string) error {
	var errs []error
	for _, target := range r.config.Targets {
		hooks, err := r.hooks(ctx, target)
		errs = append(errs, err)
		for _, h := range hooks {
			if h.source != source {
				continue
			}
			sent, err := r.again(ctx, h, delivery)
			if sent {
				return nil
			}
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return ErrNotListed
}

// again reports whether the hook has the delivery and GitHub agreed to redeliver it.
func (r *Recovery) again(ctx context.Context, h hook, guid string) (bool, error) {
	p := pass{Recovery: r, hook: h, sought: guid}
	listed, _, err := p.list(ctx, time.Time{})
	if err != nil {
		return false, h.target.explain(err)
	}
	for _, d := range listed {
		if d.guid == guid {
			_, err := r.github.call(ctx, h.target, http.MethodPost, fmt.Sprintf("%s/deliveries/%d/attempts", h.path, d.id), nil, nil)
			if err != nil {
				return false, h.target.explain(err)
			}
			return true, nil
		}
	}
	return false, nil
}
