package mocks

import (
	"net/http"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// reportRateLimit adds the headers about rate limits to a successful answer and to an error because of
// them.
func (e *Engine) reportRateLimit(x *Exchange, codec wire.Codec) {
	add := codec.Dialect().RateLimit
	first := x.frames[0]
	exceeded := first.Status == http.StatusTooManyRequests && first.Header.Get("X-Should-Retry") == "true"
	if add == nil || first.Header == nil || first.Status != http.StatusOK && !exceeded {
		return
	}
	limit := wire.RateLimit{Now: e.opts.Clock.Now(), Exceeded: exceeded}
	if u := x.record.Usage; u != nil && !exceeded {
		limit.Tokens = u.Input + u.CachedInput + u.CacheWrite + u.Output
	}
	if exceeded {
		limit.Wait = wire.ReadError(first.Status, first.Header, nil).RetryAfter
	}
	add(first.Header, limit)
}
