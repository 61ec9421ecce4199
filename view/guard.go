package view

import (
	"crypto/subtle"
	"net"
	"net/http"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/loopback"
)

// policy allows the style sheet and the script of this server, and nothing inline.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; " +
	"form-action 'self'; frame-ancestors 'none'"

// tokenParameter is the parameter of an address that opens the pages.
const tokenParameter = "token"

// guard refuses requests of foreign hosts and origins and those without the token, and sets headers
// for all pages.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if err := loopback.CheckHost(r, s.opts.Hosts...); err != nil {
			s.refuse(w, err.Error())
			return
		}
		if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
			s.refuse(w, "this server does not answer requests of other sites")
			return
		}
		switch {
		case s.isToken(r.URL.Query().Get(tokenParameter)):
			s.enter(w, r)
		case s.admitted(r):
			next.ServeHTTP(w, r)
		default:
			s.refuse(w, "open the address that rehearse view printed: it has a token, which this request does not have")
		}
	})
}

func (s *Server) refuse(w http.ResponseWriter, why string) {
	s.metrics.refused.Inc()
	http.Error(w, why, http.StatusForbidden)
}

func (s *Server) isToken(text string) bool {
	return subtle.ConstantTimeCompare([]byte(text), []byte(s.opts.Token)) == 1
}

// admitted reports whether a request has the token, in a cookie or as a bearer token.
func (s *Server) admitted(r *http.Request) bool {
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return s.isToken(bearer)
	}
	cookie, err := r.Cookie(cookieName(r))
	return err == nil && s.isToken(cookie.Value)
}

// enter stores the token of an address in a cookie, and leads to the address without it.
func (s *Server) enter(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure would need TLS, which loopback does not have
		Name: cookieName(r), Value: s.opts.Token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	query := r.URL.Query()
	query.Del(tokenParameter)
	// A path that begins with two slashes would be an address of another host.
	to := "/" + strings.TrimLeft(r.URL.EscapedPath(), "/\\")
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// cookieName is the name of the cookie: cookies do not distinguish the ports of a host, and there may be
// several servers.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "80"
	}
	return "rehearse-view-" + port
}
