package mocks_test

import (
	"context"
	"net/http"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/mocks"
)

var _ = Describe("Decoded requests", Label("H-02"), func() {
	It("are answered as if each was decoded again", func() {
		program := compile(`rules: [
			{when: {header: {x-tenant: a}}, text: for a},
			{when: {user: hello}, text: hi}, {text: bye}]`)
		shared := new(mocks.Decoded)
		ask := func(path, body string, header http.Header) outcome {
			r := inProcess(program, mocks.EngineOptions{Seed: 1, Count: countBytes, Decoded: shared})
			return r.do(context.Background(), "POST", path, body, header)
		}
		hello := chat(nil, user("hello"))
		for range 3 {
			Expect(ask("/chat/completions", hello, nil).text()).To(Equal("hi"))
			Expect(ask("/chat/completions", hello, http.Header{"X-Tenant": {"a"}}).text()).To(Equal("for a"))
			Expect(ask("/chat/completions", chat(nil, user("hello "), user("x")), nil).text()).To(Equal("bye"))
			Expect(ask("/chat/completions", `{"messages": 1}`, nil).Status).To(Equal(400))
		}
	})

	It("can be shared by engines at work", func() {
		program, shared := compile("replies: [{template: '{{.User}}', times: 100}]"), new(mocks.Decoded)
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				defer GinkgoRecover()
				r := inProcess(program, mocks.EngineOptions{Decoded: shared})
				for n := range 50 {
					text := string(rune('a' + (i+n)%26))
					Expect(r.post(context.Background(), chat(nil, user(text))).text()).To(Equal(text))
				}
			})
		}
		group.Wait()
	})
})
