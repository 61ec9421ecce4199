package loopback

import (
	"fmt"
	"net/http"
	"slices"
)

// CheckOrigins returns an error for a --cors that is not the origin of a web page.
func CheckOrigins(origins []string) error {
	for _, origin := range origins {
		if http.NewCrossOriginProtection().AddTrustedOrigin(origin) != nil {
			return fmt.Errorf("--cors %.100q: give the origin of a web page, such as http://localhost:5173", origin)
		}
	}
	return nil
}

// allowOrigins returns a handler that lets web pages of these origins read the answers of next, and
// answers their preflight requests. See https://fetch.spec.whatwg.org/#http-cors-protocol.
func allowOrigins(next http.Handler, origins []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		if !slices.Contains(origins, origin) {
			next.ServeHTTP(w, r)
			return
		}
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", "*")
		if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
			next.ServeHTTP(w, r)
			return
		}
		h.Set("Access-Control-Allow-Methods", "GET, POST")
		if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
			h.Set("Access-Control-Allow-Headers", asked)
		}
		if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
			h.Set("Access-Control-Allow-Private-Network", "true")
		}
		h.Set("Access-Control-Max-Age", "600")
		w.WriteHeader(http.StatusNoContent)
	})
}
