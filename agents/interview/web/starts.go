package web

import (
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// The defaults of Options.StartsPerMinute and Options.AllStartsPerMinute.
const (
	DefaultStarts    = 10
	DefaultAllStarts = 60
)

// maxAddresses is the maximum number of addresses with their own bucket. Further addresses share
// one.
const maxAddresses = 10_000

// bucket is a token bucket with the capacity of one minute, which is full at first.
type bucket struct {
	tokens float64
	at     time.Time
}

// take takes one token, or returns the time until the next one is available. A bucket gets
// perMinute tokens per minute.
func (b *bucket) take(now time.Time, perMinute int) (wait time.Duration) {
	b.fill(now, perMinute)
	if b.tokens < 1 {
		return time.Duration((1 - b.tokens) / float64(perMinute) * float64(time.Minute))
	}
	b.tokens--
	return 0
}

func (b *bucket) fill(now time.Time, perMinute int) {
	if b.at.IsZero() {
		b.tokens = float64(perMinute)
	} else if passed := now.Sub(b.at); passed > 0 {
		b.tokens = min(float64(perMinute), b.tokens+passed.Minutes()*float64(perMinute))
	}
	b.at = now
}

// starts limits the rate of new interviews or of other attempts, for each key and in total. The keys are
// the addresses of clients unless stated otherwise. The zero value has no limits.
type starts[K comparable] struct {
	each, all int // per minute; 0 means no limit

	mu        sync.Mutex
	total     bucket
	addresses map[K]*bucket
	others    bucket // of the addresses without their own bucket
}

// take counts a new interview from an address, or returns the time until it is allowed.
func (s *starts[K]) take(from K, now time.Time) (wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.each > 0 {
		if wait = s.bucketOf(from, now).take(now, s.each); wait > 0 {
			return wait
		}
	}
	if s.all > 0 {
		return s.total.take(now, s.all)
	}
	return 0
}

// bucketOf returns the bucket of an address. If there are too many, full buckets are removed.
func (s *starts[K]) bucketOf(from K, now time.Time) *bucket {
	if b, ok := s.addresses[from]; ok {
		return b
	}
	if len(s.addresses) >= maxAddresses {
		for address, b := range s.addresses {
			if b.fill(now, s.each); b.tokens >= float64(s.each) {
				delete(s.addresses, address)
			}
		}
	}
	if len(s.addresses) >= maxAddresses {
		return &s.others
	}
	if s.addresses == nil {
		s.addresses = map[K]*bucket{}
	}
	b := &bucket{}
	s.addresses[from] = b
	return b
}

// addressOf returns the address of the client. A /64 of IPv6, which one client may own, counts as
// one address, and so do all invalid addresses.
func addressOf(r *http.Request) netip.Prefix {
	address, ok := hostAddress(r.RemoteAddr)
	if !ok {
		return netip.Prefix{}
	}
	bits := 32
	if address.Is6() {
		bits = 64
	}
	prefix, err := address.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}

// startAllowed refuses an interview that exceeds the rate limit.
func (s *Server) startAllowed(r *http.Request) *problem {
	wait := s.starts.take(addressOf(r), s.deps.Clock.Now())
	if wait == 0 {
		return nil
	}
	refused := newProblem(http.StatusTooManyRequests, "too_many_starts", "too many interviews were started in a short time; try again later")
	refused.RetryAfter = wait
	return refused
}
