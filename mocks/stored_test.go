package mocks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

var _ = Describe("responses that the server stores", Label("H-02"), func() {
	// stored is the part of an answer that a client uses later.
	type stored struct {
		ID     string `json:"id"`
		Output []struct {
			ID, Type string
			CallID   string `json:"call_id"`
		} `json:"output"`
		Previous string `json:"previous_response_id"`
		Store    bool   `json:"store"`
	}
	var r *rig
	ask := func(members string, v ...any) (status int, answer stored, body string) {
		GinkgoHelper()
		out := r.do(context.Background(), http.MethodPost, "/responses", `{"model":"m",`+fmt.Sprintf(members, v...)+`}`, nil)
		data := []byte(out.Body)
		if strings.HasPrefix(out.Body, "event:") { // the last event has all of it
			events := strings.Split(strings.TrimSpace(out.Body), "\n\n")
			_, event, found := strings.Cut(events[len(events)-1], "data: ")
			Expect(found).To(BeTrue())
			var last struct{ Response json.RawMessage }
			Expect(json.Unmarshal([]byte(event), &last)).To(Succeed())
			data = last.Response
		}
		if out.Status == http.StatusOK {
			Expect(json.Unmarshal(data, &answer)).To(Succeed(), out.Body)
		}
		return out.Status, answer, out.Body
	}
	const script = `
rules:
  - {when: {turn: 0, user: {equals: pick a number}}, thinking: hm, text: seven}
  - {when: {turn: 1, user: {equals: which number?}, any: seven}, tool_calls: [{name: look, arguments: {at: 1}}]}
  - {when: {turn: 2, any: pick a number, tool_result: seen}, text: "It is seven."}
`
	const tools = `"tools":[{"type":"function","name":"look","parameters":{"type":"object"}}]`

	for _, stream := range []bool{false, true} {
		for name, transport := range ways {
			It(fmt.Sprintf("are continued by previous_response_id, %s, streamed: %t", name, stream), func() {
				r = transport(compile(script), mocks.EngineOptions{})
				status, first, body := ask(`"stream":%t,"input":"pick a number"`, stream)
				Expect(status).To(Equal(200), body)
				Expect(first.Store).To(BeTrue())
				status, second, body := ask(`"stream":%t,"input":"which number?","previous_response_id":%q,`+tools, stream, first.ID)
				Expect(status).To(Equal(200), body)
				Expect(second.Previous).To(Equal(first.ID))
				status, _, body = ask(`"stream":%t,"previous_response_id":%q,"input":[{"type":"function_call_output","call_id":%q,"output":"seen"}],`+tools,
					stream, second.ID, second.Output[0].CallID)
				Expect(status).To(Equal(200), body)
				report := r.engine.Report()
				Expect(report.Invalid).To(BeEmpty())
				Expect(report.Unused).To(BeEmpty())
			})

			It(fmt.Sprintf("are continued by references to their items, %s, streamed: %t", name, stream), func() {
				r = transport(compile(script), mocks.EngineOptions{})
				_, first, _ := ask(`"stream":%t,"input":"pick a number"`, stream)
				history := `{"role":"user","content":"pick a number"}`
				for _, item := range first.Output {
					history += fmt.Sprintf(`,{"type":"item_reference","id":%q}`, item.ID)
				}
				history += `,{"role":"user","content":"which number?"}`
				status, second, body := ask(`"stream":%t,"input":[%s],`+tools, stream, history)
				Expect(status).To(Equal(200), body)
				status, _, body = ask(`"stream":%t,"input":[%s,{"id":%q},{"type":"function_call_output","call_id":%q,"output":"seen"}],`+tools,
					stream, history, second.Output[0].ID, second.Output[0].CallID)
				Expect(status).To(Equal(200), body)
				Expect(r.engine.Report().Unused).To(BeEmpty())
			})
		}
	}

	It("are refused as the provider does where they are not known", func() {
		r = inProcess(compile(`rules: [{text: hi}]`), mocks.EngineOptions{})
		_, unstored, _ := ask(`"input":"a","store":false`)
		Expect(unstored.Store).To(BeFalse())
		for _, id := range []string{"resp_nope", unstored.ID} {
			status, _, body := ask(`"input":"b","previous_response_id":%q`, id)
			Expect(status).To(Equal(400))
			Expect(body).To(MatchJSON(fmt.Sprintf(`{"error":{"message":"Previous response with id '%s' not found.","type":"invalid_request_error","param":"previous_response_id","code":"previous_response_not_found"}}`, id)))
		}
		status, _, body := ask(`"input":[{"type":"item_reference","id":%q},{"role":"user","content":"b"}]`, unstored.Output[0].ID)
		Expect(status).To(Equal(404))
		Expect(body).To(SatisfyAll(ContainSubstring("Item with id '"+unstored.Output[0].ID+"' not found."), ContainSubstring(`"param":"input"`)))
		Expect(r.engine.Report().Invalid).To(HaveLen(3))
	})

	It("still need the output of each tool call", func() {
		r = inProcess(compile(`rules: [{when: {turn: 0}, tool_calls: [{name: look, id: c1}]}]`), mocks.EngineOptions{})
		_, first, _ := ask(`"input":"go",` + tools)
		status, _, body := ask(`"input":"and?","previous_response_id":%q`, first.ID)
		Expect(status).To(Equal(400))
		Expect(body).To(ContainSubstring("No tool output found for function call c1."))
	})

	It("are known in one trial and not in another", func() {
		r = inProcess(compile(`rules: [{text: hi}]`), mocks.EngineOptions{Trial: 1})
		_, first, _ := ask(`"input":"a"`)
		r = inProcess(compile(`rules: [{text: hi}]`), mocks.EngineOptions{Trial: 2})
		status, _, _ := ask(`"input":"b","previous_response_id":%q`, first.ID)
		Expect(status).To(Equal(400))
	})

	It("are dropped beyond the limit of a long-running server, the oldest first", func() {
		r = inProcess(compile(`rules: [{text: hi}]`), mocks.EngineOptions{Keep: 2})
		var ids, items []string
		for range 3 {
			_, a, _ := ask(`"input":"a"`)
			ids, items = append(ids, a.ID), append(items, a.Output[0].ID)
		}
		for i, want := range []int{404, 200, 200} {
			status, _, _ := ask(`"store":false,"input":[{"type":"item_reference","id":%q},{"role":"user","content":"b"}]`, items[i])
			Expect(status).To(Equal(want))
		}
		status, _, _ := ask(`"store":false,"input":"b","previous_response_id":%q`, ids[0])
		Expect(status).To(Equal(400))
		_, last, _ := ask(`"input":"b","previous_response_id":%q`, ids[1])
		ask(`"input":"x"`) // drops ids[1] and ids[2], but last continues ids[1]
		status, _, _ = ask(`"input":"c","previous_response_id":%q`, last.ID)
		Expect(status).To(Equal(200))
	})

	It("can be referred to while others are stored", func() {
		e := mocks.NewEngine(compile(`rules: [{text: hi}]`), mocks.EngineOptions{Keep: 3})
		store := &wire.ResponseStore{Keep: 3}
		codec := wire.OpenAIResponses{Store: store}
		done := make(chan struct{})
		for range 4 {
			go func() {
				defer func() { done <- struct{}{} }()
				for i := range 50 {
					x := e.Begin(context.Background(), codec, nil, []byte(`{"model":"m","input":"a"}`))
					Expect(x.Send(0, handOver)).To(Succeed())
					x.End()
					_, _ = codec.Decode([]byte(fmt.Sprintf(`{"model":"m","input":[{"type":"item_reference","id":"msg_%d"}]}`, i)))
				}
			}()
		}
		for range 4 {
			<-done
		}
	})
})
