package web

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/access"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/sessionlist"
)

// cookieName is the name of the cookie by which the start page offers to continue.
const cookieName = "interview"

// The attempts with codes per minute, of one identifier, of one address and in total.
const (
	triesPerCandidate = 5
	triesPerAddress   = 10
	triesInAll        = 120
)

// triesPerSession is the number of wrong codes of one session in a day, on all servers of the store. With
// it, somebody who tries for a year finds a code of 40 secret bits with a probability of 3e-8.
const triesPerSession = 100

// generatedPrefix begins the identifiers of candidates who gave none.
const generatedPrefix = "candidate-"

// isSecure reports whether the client uses HTTPS, perhaps through a trusted proxy; see behindProxy.
func isSecure(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get(forwardedProto), "https")
}

func (s *Server) setCookie(w http.ResponseWriter, r *http.Request, value string, maxAge time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: value, Path: "/", MaxAge: int(maxAge / time.Second),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: isSecure(r),
	})
}

// remember makes the start page offer to continue a session in this browser.
func (s *Server) remember(w http.ResponseWriter, r *http.Request, id string) {
	until := s.deps.Clock.Now().Add(s.options.LinkTime)
	s.setCookie(w, r, s.keys.Sign(access.Cookie, id, until), s.options.LinkTime)
}

// remembered returns the session of the cookie, or nil. It removes a cookie that opens none.
func (s *Server) remembered(w http.ResponseWriter, r *http.Request) *session.Session {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return nil
	}
	id, err := s.keys.Open(access.Cookie, cookie.Value, s.deps.Clock.Now())
	if err == nil {
		var found session.Session
		if found, err = s.deps.Store.Load(r.Context(), id); err == nil {
			return &found
		}
		if !errors.Is(err, session.ErrNotFound) {
			return nil // the store fails; the cookie may be valid
		}
	}
	s.setCookie(w, r, "", -time.Second)
	return nil
}

// openSession loads a session that a request names by its id. Some time after the end of an interview
// its id alone gives no more access: browsers keep addresses in their history, and others see them.
func (s *Server) openSession(r *http.Request, id string) (session.Session, *problem) {
	noteOf(r).session = id
	one, err := s.deps.Store.Load(r.Context(), id)
	if err != nil {
		return session.Session{}, storeProblem(err)
	}
	now := s.deps.Clock.Now()
	if one.Phase != session.Finished || now.Before(one.Updated.Add(s.options.AddressTime)) {
		return one, nil
	}
	if cookie, err := r.Cookie(cookieName); err == nil {
		if mine, err := s.keys.Open(access.Cookie, cookie.Value, now); err == nil && mine == id {
			return one, nil
		}
	}
	return session.Session{}, newProblem(http.StatusForbidden, "expired_address",
		"the interview is finished, and its address has expired: use the personal link, or a code")
}

// forget removes the cookie.
func (s *Server) forget(w http.ResponseWriter, r *http.Request) {
	s.setCookie(w, r, "", -time.Second)
	redirect(w, r, "/")
}

// openLink opens the interview of a personal link.
func (s *Server) openLink(w http.ResponseWriter, r *http.Request) {
	id, err := s.keys.Open(access.Link, r.PathValue("link"), s.deps.Clock.Now())
	switch {
	case errors.Is(err, access.ErrExpired):
		s.refusePage(w, r, newProblem(http.StatusGone, "expired_link", "the link has expired"))
		return
	case err != nil:
		s.refusePage(w, r, newProblem(http.StatusForbidden, "bad_link", "the link is not one of this server"))
		return
	}
	noteOf(r).session = id
	if _, err := s.deps.Store.Load(r.Context(), id); err != nil {
		s.refusePage(w, r, storeProblem(err))
		return
	}
	s.toPage(w, r, id)
}

func (s *Server) resumeForm(w http.ResponseWriter, r *http.Request) {
	s.render(w, r, http.StatusOK, resumePage{Language: s.preferred(r)})
}

// resume opens the interview of an identifier and a code.
func (s *Server) resume(w http.ResponseWriter, r *http.Request) {
	form, f := s.readForm(w, r)
	if f != nil {
		s.refusePage(w, r, f)
		return
	}
	candidate := strings.TrimSpace(form.get("candidate"))
	id, f := s.sessionByCode(r, candidate, form.get("code"))
	if f != nil {
		noteOf(r).failed(f)
		if f.RetryAfter > 0 {
			w.Header().Set("Retry-After", f.retryAfter())
		}
		s.render(w, r, f.Status, resumePage{Language: s.preferred(r), Candidate: candidate, Problem: f.Code})
		return
	}
	s.toPage(w, r, id)
}

// sessionByCode returns the id of a session. Attempts are limited, so that nobody finds a code by trying;
// a candidate who gave no identifier needs none.
func (s *Server) sessionByCode(r *http.Request, candidate, typed string) (id string, f *problem) {
	now := s.deps.Clock.Now()
	wait := s.triesFrom.take(addressOf(r), now)
	code, ok := access.ParseCode(typed)
	locked := false
	if wait == 0 && ok {
		wait = s.triesOf.take(cmp.Or(strings.ToLower(candidate), strconv.Itoa(code.Minute)), now)
	}
	switch {
	case wait > 0:
		f := newProblem(http.StatusTooManyRequests, "too_many_tries", "too many codes were tried; try again later")
		f.RetryAfter = wait
		return "", f
	case ok:
		for _, minute := range code.Minutes(now) {
			found, err := s.deps.Store.List(r.Context(), session.Listing{
				Candidate: candidate, Before: minute.Add(time.Minute), Limit: sessionlist.Max,
			})
			if err != nil {
				return "", storeProblem(err)
			}
			for _, one := range found {
				if one.Created.Before(minute) {
					break
				}
				if candidate == "" && !strings.HasPrefix(one.Candidate, generatedPrefix) {
					continue
				}
				allowed, err := s.deps.Store.CountTry(r.Context(), one.ID, session.Day(now), triesPerSession)
				if err != nil {
					return "", storeProblem(err)
				}
				locked = locked || !allowed
				if s.keys.Matches(code, one.ID, one.Created) && allowed {
					id = one.ID
				}
			}
		}
	}
	switch {
	case id != "":
		if err := s.deps.Store.ForgetTries(r.Context(), id); err != nil {
			return "", storeProblem(err)
		}
		return id, nil
	case locked: // whether the code is right or not
		f := newProblem(http.StatusTooManyRequests, "locked_code", "too many wrong codes were tried today; the code works again after 00:00 UTC")
		f.RetryAfter = session.NextDay(now).Sub(now)
		return "", f
	}
	return "", newProblem(http.StatusForbidden, "bad_code", "no interview has this identifier and this code")
}
