package web_test

import (
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
	"github.com/rehearse-dev/rehearse/agents/interview/web"
)

var _ = Describe("A link to an audit", Label("I-15"), func() {
	const secret = "THETOKENOFTHISSHARE"
	shared := func(h *house, id string) session.Share {
		GinkgoHelper()
		one := session.Share{
			Hash: session.HashShare(secret), Session: id, For: "auditor", Created: h.clock.Now(), Expires: h.clock.Now().Add(time.Hour),
		}
		Expect(h.disk.Store.(*store.Store).Share(GinkgoT().Context(), one)).To(Succeed())
		return one
	}

	It("opens the audit of its session without the operators' token, as a page or JSON", func() {
		h := newHouse("lea")
		id := h.begin().SessionID
		one := shared(h, id)
		page := h.get("/audit/" + secret)
		Expect(page.Code).To(Equal(http.StatusOK))
		Expect(page.Body.String()).To(Equal("html audit of " + session.ShortID(id) + " for auditor"))
		Expect(page.Header().Get("Content-Security-Policy")).To(ContainSubstring("default-src 'none'"))
		Expect(page.Header().Get("X-Robots-Tag")).To(Equal("noindex"))
		Expect(page.Header().Get("Cache-Control")).To(Equal("no-store"))
		Expect(page.Header().Get("Set-Cookie")).To(BeEmpty())
		Expect(h.get("/audit/" + secret + "?format=json").Body.String()).To(HavePrefix("json audit"))
		Expect(h.get("/audit/" + secret + "?format=csv").Code).To(Equal(http.StatusBadRequest))
		Expect(h.log.String()).To(And(ContainSubstring(`"share":"`+one.ID()+`"`), ContainSubstring(`"route":"GET /audit/{share}"`)))
		Expect(h.log.String()).NotTo(Or(ContainSubstring(secret), ContainSubstring(id)))
	})

	It("opens nothing else", func() {
		h := newHouse("lea")
		id := h.begin().SessionID
		shared(h, id)
		for _, path := range []string{"/s/" + secret, "/s/" + secret + "/mine", "/r/" + secret, "/s/" + secret + "/export", "/?invite=" + secret} {
			Expect(h.get(path).Body.String()).NotTo(ContainSubstring(id[8:]), path)
		}
		Expect(h.say(map[string]any{"sessionId": secret, "event": "RESUME"}).Error.Code).To(Equal("unknown_session"))
		for _, path := range []string{"/sessions", "/sessions/" + secret + "/audit", "/sessions/" + id + "/audit"} {
			Expect(h.get(path, secret).Code).To(Equal(http.StatusUnauthorized), path)
		}
	})

	It("is refused when it has expired, was revoked or is none", func() {
		h := newHouse("lea", func(o *web.Options, _ *web.Deps) { o.Token = "" }) // shares need no operators' token
		one := shared(h, h.begin().SessionID)
		Expect(h.get("/audit/" + secret).Code).To(Equal(http.StatusOK))
		Expect(h.disk.Store.(*store.Store).RevokeShare(GinkgoT().Context(), one.Hash)).To(Succeed())
		Expect(read(h.get("/audit/" + secret)).Error.Code).To(Equal("ended_share"))
		for _, wrong := range []string{"x", strings.Repeat("A", 5000), "%00", "%FF", "..%2f..%2fsessions", strings.ToLower(secret)} {
			Expect(read(h.get("/audit/"+wrong)).Error.Code).To(Equal("bad_share"), wrong)
		}
		Expect(h.clock.Sleep(GinkgoT().Context(), 2*time.Hour)).To(Succeed())
		Expect(h.browse("/audit/" + secret).Body.String()).To(And(
			ContainSubstring("a expiré ou a été retiré"), Not(ContainSubstring("Commencer"))))
	})
})
