package mocks_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/mocks"
)

// ask is the agent of these examples: it calls the model, and once more if that fails.
func ask(client *http.Client, base, question string) string {
	for range 2 {
		body, _ := json.Marshal(map[string]any{
			"model": "gpt-4.1-mini", "messages": []map[string]string{{"role": "user", "content": question}},
		})
		res, err := client.Post(base+"/v1/chat/completions", "application/json", bytes.NewReader(body))
		if err != nil {
			return err.Error()
		}
		var answer struct {
			Choices []struct{ Message struct{ Content string } }
		}
		err = json.NewDecoder(res.Body).Decode(&answer)
		_ = res.Body.Close()
		if err == nil && res.StatusCode == http.StatusOK {
			return answer.Choices[0].Message.Content
		}
	}
	return "no answer"
}

// A script in Go, served for one test. In a test, t is its *testing.T.
func ExampleStart() {
	t := &printingT{}
	backend := mocks.Start(t, mocks.Script{Rules: []mocks.Line{
		mocks.Say("At nine.").IfUser("open"),
		mocks.Say("At five.").IfUser("close"),
	}})
	fmt.Println(ask(http.DefaultClient, backend.URL, "When do you open?"))
	fmt.Println(ask(http.DefaultClient, backend.URL, "Do you sell tea?"))
	t.end()
	// Output:
	// At nine.
	// no answer
	// the calls to the scripted backend do not match its script:
	//   unexpected: call 2, call 3: no rule answers this call (turn 0, user "Do you sell tea?"); the closest is rules[0]: when.user.contains: expected "open", got "Do you sell tea?"
	//   unused: rules[1]: never used
}

// Without a socket, in virtual time: the hour that the answer takes passes at once.
func ExampleNewTransport() {
	program, err := mocks.Compile(mocks.Script{Replies: []mocks.Line{
		mocks.Fail(mocks.Fault{Kind: "status", Status: 503}),
		{Answer: mocks.Answer{Text: "Done.", Latency: &mocks.Latency{First: mocks.Duration(time.Hour)}}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	virtual := clock.NewVirtual()
	begin := virtual.Now()
	engine := mocks.NewEngine(program, mocks.EngineOptions{Clock: virtual})
	client := &http.Client{Transport: mocks.NewTransport(engine)}
	fmt.Println(ask(client, "http://backend", "Fix the test."))
	fmt.Println(virtual.Now().Sub(begin).Round(time.Second))
	for _, x := range engine.Report().Exchanges {
		fmt.Println(x.N, x.Line, x.Status, x.Fault)
	}
	// Output:
	// Done.
	// 1h0m0s
	// 1 replies[0] 503 status
	// 2 replies[1] 200
}

// printingT is a test that prints why it fails.
type printingT struct{ cleanup []func() }

func (*printingT) Helper()                           {}
func (t *printingT) Cleanup(f func())                { t.cleanup = append(t.cleanup, f) }
func (*printingT) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (*printingT) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (t *printingT) end() {
	for _, f := range t.cleanup {
		f()
	}
}
