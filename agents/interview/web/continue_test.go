package web_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/web"
)

const secret = "a secret of the server of this spec, long enough"

func withSecrets(secrets ...string) func(*web.Options, *web.Deps) {
	return func(o *web.Options, _ *web.Deps) { o.Secrets = secrets }
}

// behindProxy trusts the peer of the requests of httptest.
func behindProxy(o *web.Options, _ *web.Deps) {
	o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}
}

// as sends a GET with a cookie.
func (h *house) as(cookie, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Accept-Language", "en")
	r.Header.Set("Accept", "text/html")
	if cookie != "" {
		r.AddCookie(&http.Cookie{Name: "interview", Value: cookie})
	}
	return h.do(r)
}

func cookieOf(w *httptest.ResponseRecorder) *http.Cookie {
	GinkgoHelper()
	cookies := w.Result().Cookies()
	Expect(cookies).To(HaveLen(1))
	return cookies[0]
}

// beginOnPage begins an interview with the form, and returns its path and its cookie.
func (h *house) beginOnPage(candidate string) (path, cookie string) {
	GinkgoHelper()
	w := h.form("/", "language", "en", "candidate", candidate)
	Expect(w.Code).To(Equal(http.StatusSeeOther))
	return w.Header().Get("Location"), cookieOf(w).Value
}

// offers returns what the page of an interview offers to continue elsewhere.
func (h *house) offers(path string) (link, code string) {
	GinkgoHelper()
	page := h.as("", path+"/mine").Body.String()
	link = regexp.MustCompile(`http://example.com(/r/[a-z2-7]+)`).FindStringSubmatch(page)[1]
	code = regexp.MustCompile(`<dd class="code">([0-9A-Z-]+)</dd>`).FindStringSubmatch(page)[1]
	return link, code
}

var _ = Describe("The cookie", func() {
	It("lets the start page continue the interview, or forget it", func() {
		h := newHouse("lea")
		path, cookie := h.beginOnPage("lea.v")
		page := h.as(cookie, "/").Body.String()
		Expect(page).To(And(ContainSubstring(`href="`+path+`"`), ContainSubstring("Continue my interview"),
			ContainSubstring("Begin another interview"), ContainSubstring(`action="/forget"`)))
		Expect(h.as("", "/").Body.String()).NotTo(ContainSubstring("Continue my interview"))
		w := h.form("/forget")
		Expect(w.Header().Get("Location")).To(Equal("/"))
		Expect(cookieOf(w)).To(And(HaveField("Value", ""), HaveField("MaxAge", -1)))
	})

	It("is renewed by each answer, and stays out of the reach of scripts and other sites", func() {
		h := newHouse("lea")
		path, _ := h.beginOnPage("")
		w := h.form(path, "submissionId", "a", "replyTo", "m1", "message", "Tom")
		Expect(w.Code).To(Equal(http.StatusSeeOther))
		Expect(cookieOf(w)).To(And(HaveField("HttpOnly", true), HaveField("SameSite", http.SameSiteLaxMode), HaveField("Path", "/"),
			HaveField("MaxAge", 30*24*60*60), HaveField("Secure", false)))
		Expect(h.as(cookieOf(w).Value, "/").Body.String()).To(ContainSubstring(path))
	})

	DescribeTable("is only sent back by HTTPS where the client uses it",
		func(change func(*http.Request)) {
			h := newHouse("lea", behindProxy)
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("language=en"))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			change(r)
			Expect(cookieOf(h.do(r)).Secure).To(BeTrue())
		},
		Entry("itself", func(r *http.Request) { r.TLS = &tls.ConnectionState{} }),
		Entry("to a proxy", func(r *http.Request) { r.Header.Set("X-Forwarded-Proto", "https") }),
	)

	It("is ignored and removed if this server did not sign it, or not for this purpose", func() {
		h := newHouse("lea", withSecrets(secret))
		path, good := h.beginOnPage("")
		link, _ := h.offers(path)
		_, foreign := newHouse("lea", withSecrets("the secret of another server, as long as that")).beginOnPage("")
		for _, forged := range []string{
			foreign, strings.TrimPrefix(link, "/r/"), strings.TrimPrefix(path, "/s/"), good[:len(good)-1], good + "a", strings.ToUpper(good),
			"x", strings.Repeat("a", 4000), "../../" + good, "%00", "<script>",
		} {
			w := h.as(forged, "/")
			Expect(w.Code).To(Equal(http.StatusOK), forged)
			Expect(w.Body.String()).NotTo(ContainSubstring("/s/"), forged)
			Expect(cookieOf(w).MaxAge).To(Equal(-1), forged)
		}
		Expect(h.as(good, "/").Body.String()).To(ContainSubstring(path))
	})

	It("expires", func() {
		h := newHouse("lea")
		path, cookie := h.beginOnPage("")
		Expect(h.as(cookie, "/").Body.String()).To(ContainSubstring(path))
		Expect(h.clock.Sleep(context.Background(), 30*24*time.Hour)).To(Succeed())
		Expect(h.as(cookie, "/").Body.String()).NotTo(ContainSubstring(path))
	})

	It("stays when the store cannot be read", func() {
		broken := &unreadable{}
		h := newHouse("lea", func(_ *web.Options, d *web.Deps) { broken.Store, d.Store = d.Store, broken })
		_, cookie := h.beginOnPage("")
		broken.fails = true
		w := h.as(cookie, "/")
		Expect(w.Code).To(Equal(http.StatusOK))
		Expect(w.Result().Cookies()).To(BeEmpty())
	})
})

// unreadable is a store whose sessions cannot be loaded.
type unreadable struct {
	session.Store
	fails bool
}

// Load implements session.Store.
func (u *unreadable) Load(ctx context.Context, id string) (session.Session, error) {
	if u.fails {
		return session.Session{}, errors.New("the disk is gone")
	}
	return u.Store.Load(ctx, id)
}

var _ = Describe("The personal link", func() {
	It("opens the interview on another device until it expires", func() {
		h := newHouse("lea")
		path, _ := h.beginOnPage("")
		link, _ := h.offers(path)
		w := h.as("", link)
		Expect(w.Code).To(Equal(http.StatusSeeOther))
		Expect(w.Header().Get("Location")).To(Equal(path))
		Expect(h.as(cookieOf(w).Value, "/").Body.String()).To(ContainSubstring(path), "the other device remembers it")
		Expect(h.clock.Sleep(context.Background(), 30*24*time.Hour)).To(Succeed())
		w = h.as("", link)
		Expect(w.Code).To(Equal(http.StatusGone))
		Expect(w.Body.String()).To(And(ContainSubstring("has expired"), ContainSubstring(`href="/resume"`)))
	})

	It("is refused with a friendly page if it is not one of this server", func() {
		h := newHouse("lea", withSecrets(secret))
		path, cookie := h.beginOnPage("")
		link, _ := h.offers(path)
		for _, forged := range []string{"/r/x", link + "a", link[:len(link)-2], "/r/" + cookie, "/r/" + strings.Repeat("a", 5000), "/r/%00", "/r/%ff"} {
			w := h.as("", forged)
			Expect(w.Code).To(Equal(http.StatusForbidden), forged)
			Expect(w.Body.String()).To(ContainSubstring("does not open an interview here"), forged)
			Expect(w.Result().Cookies()).To(BeEmpty())
		}
		other := newHouse("lea", withSecrets(secret))
		Expect(other.as("", link).Code).To(Equal(http.StatusNotFound), "the secret of this server, but not its store")
		Expect(newHouse("lea", withSecrets(secret+"2")).as("", link).Code).To(Equal(http.StatusForbidden))
		Expect(newHouse("lea", withSecrets(secret+"2", secret)).as("", link).Code).To(Equal(http.StatusNotFound), "a key that was replaced")
	})

	It("has the address that the client uses, also by mail", func() {
		h := newHouse("lea", behindProxy)
		path, _ := h.beginOnPage("")
		r := httptest.NewRequest(http.MethodGet, path+"/mine", nil)
		r.Header.Set("X-Forwarded-Proto", "https")
		page := h.do(r).Body.String()
		Expect(page).To(ContainSubstring("https://example.com/r/"))
		r.RemoteAddr = "198.51.100.1:1" // not the proxy
		Expect(h.do(r).Body.String()).To(And(ContainSubstring("http://example.com/r/"), Not(ContainSubstring("https://example.com"))))
		Expect(page).To(MatchRegexp(`href="mailto:\?subject=My%20link[^"+]*&amp;body=Hello[^"+]*https:%2F%2Fexample.com%2Fr%2F[a-z2-7]{50,}%0D%0A`))
	})

	It("is not logged, and neither is a code", func() {
		h := newHouse("lea")
		path, cookie := h.beginOnPage("lea.v")
		link, code := h.offers(path)
		h.as(cookie, link)
		h.form("/resume", "candidate", "lea.v", "code", code)
		h.form("/resume", "candidate", "lea.v", "code", "K7QM-9TXR-4BWD")
		log := h.log.String()
		for _, s := range h.spans.Ended() {
			log += fmt.Sprint(s.Name(), s.Attributes())
		}
		Expect(log).To(ContainSubstring(`"code":"bad_code"`))
		for _, private := range []string{strings.TrimPrefix(link, "/r/"), cookie, code, code[5:], "4BWD", strings.TrimPrefix(path, "/s/"), "lea.v"} {
			Expect(log).NotTo(ContainSubstring(private))
		}
	})
})

var _ = Describe("The address of a finished interview", func() {
	It("opens it for a day, and then only with the cookie, the personal link or the code", func() {
		h := newHouse("lea", func(o *web.Options, _ *web.Deps) { o.LinkTime = 60 * 24 * time.Hour })
		v := h.until(h.begin().View, at(session.Block1, 1))
		path := "/s/" + v.SessionID
		link, code := h.offers(path)
		Expect(h.clock.Sleep(context.Background(), 25*time.Hour)).To(Succeed())
		Expect(h.as("", path).Code).To(Equal(http.StatusOK), "it is not finished")
		h.until(v, over)
		other, foreign := h.beginOnPage("")
		Expect(h.clock.Sleep(context.Background(), 24*time.Hour-time.Minute)).To(Succeed())
		Expect(h.as("", path).Code).To(Equal(http.StatusOK))
		Expect(h.say(map[string]any{"sessionId": v.SessionID, "event": "RESUME"}).Finished).To(BeTrue())
		Expect(h.clock.Sleep(context.Background(), time.Minute)).To(Succeed())

		before := h.everything()
		for _, cookie := range []string{"", foreign, strings.TrimPrefix(link, "/r/")} {
			for _, private := range []string{path, path + "/mine", path + "/export?format=text"} {
				w := h.as(cookie, private)
				Expect(w.Code).To(Equal(http.StatusForbidden), private)
				Expect(w.Body.String()).To(And(ContainSubstring("no longer opens it"), ContainSubstring(`href="/resume"`)))
				Expect(w.Result().Cookies()).To(BeEmpty())
			}
		}
		Expect(h.form(path+"/delete", "confirm", "yes").Code).To(Equal(http.StatusForbidden))
		Expect(h.form(path, "submissionId", "z", "message", "more").Code).To(Equal(http.StatusForbidden))
		refused := h.say(map[string]any{"sessionId": v.SessionID, "event": "RESUME"})
		Expect(refused).To(And(HaveField("Status", http.StatusForbidden), HaveField("Error.Code", "expired_address"), HaveField("Stands", BeNil())))
		Expect(h.everything()).To(Equal(before))
		Expect(h.as("", other).Code).To(Equal(http.StatusOK))

		for _, opened := range []*httptest.ResponseRecorder{h.as("", link), h.form("/resume", "candidate", h.persona.Candidate, "code", code)} {
			Expect(opened.Code).To(Equal(http.StatusSeeOther))
			cookie := cookieOf(opened).Value
			for _, private := range []string{path, path + "/mine", path + "/export?format=text"} {
				Expect(h.as(cookie, private).Code).To(Equal(http.StatusOK), private)
			}
		}
	})
})

var _ = Describe("The code", func() {
	It("opens the interview with the identifier, however it is typed", func() {
		h := newHouse("lea")
		path, _ := h.beginOnPage("lea.v")
		_, code := h.offers(path)
		for i, typed := range []string{code, strings.ToLower(code), " " + strings.ReplaceAll(code, "-", " ")} {
			w := h.form("/resume", "candidate", " lea.v", "code", typed)
			Expect(w.Code).To(Equal(http.StatusSeeOther), "%d", i)
			Expect(w.Header().Get("Location")).To(Equal(path))
			Expect(h.as(cookieOf(w).Value, "/").Body.String()).To(ContainSubstring(path))
		}
	})

	It("needs no identifier where none was given", func() {
		h := newHouse("lea")
		path, _ := h.beginOnPage("")
		Expect(h.as("", path+"/mine").Body.String()).To(ContainSubstring("(leave empty)"))
		_, code := h.offers(path)
		Expect(h.form("/resume", "candidate", "", "code", code).Header().Get("Location")).To(Equal(path))
		named, _ := h.beginOnPage("tom")
		_, code = h.offers(named)
		Expect(h.form("/resume", "candidate", "", "code", code).Code).To(Equal(http.StatusForbidden))
	})

	It("is not hidden by interviews that others begin with the same identifier", func() {
		h := newHouse("lea")
		path, _ := h.beginOnPage("lea.v")
		_, code := h.offers(path)
		for range 50 {
			h.beginOnPage("lea.v")
		}
		Expect(h.clock.Sleep(context.Background(), 400*24*time.Hour)).To(Succeed())
		for range 50 {
			h.beginOnPage("lea.v")
		}
		Expect(h.form("/resume", "candidate", "lea.v", "code", code).Header().Get("Location")).To(Equal(path))
	})

	DescribeTable("is refused with the form again, without a hint at what is wrong",
		func(candidate, typed string) {
			h := newHouse("lea")
			path, _ := h.beginOnPage("lea.v")
			_, code := h.offers(path)
			w := h.form("/resume", "candidate", candidate, "code", strings.ReplaceAll(typed, "CODE", code))
			Expect(w.Code).To(Equal(http.StatusForbidden))
			Expect(w.Body.String()).To(And(ContainSubstring("do not belong together"), ContainSubstring(`name="code"`)))
			Expect(w.Body.String()).NotTo(ContainSubstring(code))
			Expect(w.Result().Cookies()).To(BeEmpty())
		},
		Entry("another code", "lea.v", "K7QM-9TXR-4BWD"), Entry("another candidate", "tom", "CODE"), Entry("no candidate", "", "CODE"),
		Entry("nobody", "nobody", "CODE"), Entry("nothing", "lea.v", ""), Entry("more", "lea.v", "CODEA"), Entry("text", "lea.v", "'; DROP TABLE"),
		Entry("a long text", "lea.v", strings.Repeat("K7QM", 40)),
	)

	It("cannot be found by trying", func() {
		h := newHouse("lea")
		path, _ := h.beginOnPage("lea.v")
		_, code := h.offers(path)
		try := func(candidate, code, from string) *httptest.ResponseRecorder {
			r := httptest.NewRequest(http.MethodPost, "/resume", strings.NewReader("candidate="+candidate+"&code="+code))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.RemoteAddr = from + ":1"
			return h.do(r)
		}
		for i := range 5 {
			Expect(try("lea.v", "K7QM-9TXR-4BWD", fmt.Sprintf("192.0.2.%d", i)).Code).To(Equal(http.StatusForbidden))
		}
		refused := try("LEA.V", code, "192.0.2.9")
		Expect(refused.Code).To(Equal(http.StatusTooManyRequests), "for the identifier, from any address")
		Expect(refused.Header().Get("Retry-After")).To(Equal("12"))
		for i := range 10 {
			Expect(try(fmt.Sprint("c", i), "K7QM-9TXR-4BWD", "192.0.2.10").Code).To(Equal(http.StatusForbidden))
		}
		Expect(try("tom", "K7QM-9TXR-4BWD", "192.0.2.10").Code).To(Equal(http.StatusTooManyRequests), "for the address")
		Expect(h.clock.Sleep(context.Background(), time.Minute)).To(Succeed())
		Expect(try("lea.v", code, "192.0.2.9").Code).To(Equal(http.StatusSeeOther))
	})
})

var _ = Describe("Wrong codes", func() {
	It("block the code of a session for the rest of the day, also after a restart and on another server", func() {
		h := newHouse("lea", withSecrets(secret))
		path, _ := h.beginOnPage("lea.v")
		_, code := h.offers(path)
		wrong := code[:5] + "9999-9999" // of the same minute
		restarted := func() *house {
			return newHouse("lea", withSecrets(secret), func(_ *web.Options, d *web.Deps) { d.Store, d.Clock = h.store, h.clock })
		}
		try := func(s *house, code string) *httptest.ResponseRecorder {
			Expect(h.clock.Sleep(context.Background(), time.Minute)).To(Succeed())
			return s.form("/resume", "candidate", "lea.v", "code", code)
		}
		for range 60 {
			Expect(try(h, wrong).Code).To(Equal(http.StatusForbidden))
		}
		Expect(try(h, code).Code).To(Equal(http.StatusSeeOther), "the right one ends the count")
		for range 50 {
			Expect(try(h, wrong).Code).To(Equal(http.StatusForbidden))
		}
		second := restarted()
		for range 50 {
			Expect(try(second, wrong).Code).To(Equal(http.StatusForbidden))
		}
		for _, typed := range []string{wrong, code} {
			refused := try(restarted(), typed)
			Expect(refused.Code).To(Equal(http.StatusTooManyRequests), "whether it is right is not told")
			Expect(refused.Header().Get("Retry-After")).To(MatchRegexp(`^\d{5}$`))
			Expect(refused.Body.String()).To(And(ContainSubstring("blocked until tomorrow"), ContainSubstring(`name="code"`)))
		}
		Expect(try(h, "K7QM-9TXR-4BWD").Code).To(Equal(http.StatusForbidden), "of another minute")
		Expect(h.clock.Sleep(context.Background(), session.NextDay(h.clock.Now()).Sub(h.clock.Now()))).To(Succeed())
		Expect(try(second, code).Code).To(Equal(http.StatusSeeOther))
	})
})
