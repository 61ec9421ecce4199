package page_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/reports/page"
)

// talked is a trial of a conversation: what the user says and the answer, or an error that
// begins with "!". The model is asked once in each turn, and twice in the first.
func talked(scenario string, turns ...[2]string) record.Trial {
	asked := append([][2]string{{"think", "hm"}}, turns...)
	t := dialogue(scenario, 1, asked...)
	t.Events = nil
	tell := func(name, detail string, n int, attrs map[string]any) {
		t.Events = append(t.Events, record.Event{Event: event.Event{Kind: event.State, Name: name, Detail: detail, N: n, Attrs: attrs}})
	}
	tell("program", "claude 2.1.197", 0, nil)
	for i, turn := range turns {
		attrs := map[string]any{"user": turn[0], "calls": i + 2, "status": 200}
		if why, failed := strings.CutPrefix(turn[1], "!"); failed {
			attrs["error"], turn[1] = why, ""
		}
		tell("turn", turn[1], i+1, attrs)
	}
	tell("file", "<b>20 EUR</b>", 0, map[string]any{"path": "notes/<i>.md", "bytes": 13})
	tell("log", "warning: <script>alert(1)</script>", 0, nil)
	t.End.Text = turns[len(turns)-1][1]
	return t
}

var _ = Describe("The page of somebody else's agent", Label("H-05"), func() {
	render := func(turns ...[2]string) string {
		GinkgoHelper()
		sc := record.Scenario{Name: "refund/asked", Digest: "sha256:1", Seed: 1, Trials: 1, Agent: "http", Backend: "openai", RealTime: true, Model: "gpt-4.1-mini", Price: quote()}
		var r run
		r.add(sc, talked(sc.Name, turns...))
		return r.page(page.Options{})
	}

	It("shows the conversation, with links to the calls of each turn", func() {
		html := render([2]string{"My money!", "Which order?"}, [2]string{"4711 <now>", "!it ended with exit status 3"})
		Expect(html).To(MatchRegexp(`(?s)<h3>Conversation</h3>.*<b>user</b> turn 1.*My money!.*` +
			`<a href="#refund/asked/1/1">call 1</a> to <a href="#refund/asked/1/2">call 2</a> <span><i>status</i> 200</span>.*<b>agent</b>.*Which order\?.*` +
			`<b>user</b> turn 2.*4711 &lt;now&gt;.*<a href="#refund/asked/1/3">call 3</a>.*<span class="badge fail">no answer</span> it ended with exit status 3`))
		Expect(html).To(ContainSubstring("<h3>Calls to the model</h3>"))
		Expect(html).To(ContainSubstring("<i>answered turns</i>"))
		Expect(html).To(ContainSubstring("<i>protocol</i> openai"))
		Expect(html).To(ContainSubstring("<i>turn</i> 2"))
	})

	It("does not call the time that its trials took simulated", func() {
		Expect(plainText(render([2]string{"My money!", "Which order?"}), `<dl class="numbers">`, "</dl>")).
			To(And(ContainSubstring(" time of all trials "), Not(ContainSubstring("simulated"))))
	})

	It("shows what the agent left and wrote, as text", func() {
		html := render([2]string{"My money!", "Which order?"})
		Expect(html).To(MatchRegexp(`<code>notes/&lt;i&gt;.md</code> <span class="size">13 bytes</span>.*&lt;b&gt;20 EUR&lt;/b&gt;`))
		Expect(html).To(ContainSubstring("warning: &lt;script&gt;alert(1)&lt;/script&gt;"))
		Expect(html).To(ContainSubstring(`<b>program</b> <span class="said" dir="auto">claude 2.1.197</span>`), "other events stay where they were")
		Expect(html).NotTo(ContainSubstring(`<b>turn</b>`))
		Expect(html).NotTo(ContainSubstring(`<span class="at">`), "no time is known")
	})

	It("counts the turns of a long conversation that it leaves out", func() {
		var turns [][2]string
		for i := range 203 {
			turns = append(turns, [2]string{fmt.Sprintf("Question %d?", i), "Answer."})
		}
		html := render(turns...)
		Expect(html).To(ContainSubstring("3 more turns are in the recording."))
		Expect(html).To(ContainSubstring("<b>user</b> turn 200<"))
		Expect(html).NotTo(ContainSubstring("<b>user</b> turn 201<"))
	})
})
