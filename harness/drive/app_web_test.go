package drive_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/app/apptest"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// demoHTTP is the drive section of the demo agent as an HTTP application.
func demoHTTP(do string) string {
	return "  http:\n    run: [\"{rehearse}\", -do, \"" + do + "\"]\n    env: {REHEARSE_DEMO: http}\n    health: /healthz\n" +
		"    request: {path: /chat, body: '{\"session\": {{json .Session}}, \"message\": {{json .Turn}}}'}\n" +
		"    answer: $.answer\n    session: $.session\n"
}

func init() {
	const children = "an application may have children; they end with it"
	apptest.Contract(apptest.Subject{
		Name: "an HTTP application", Drive: demoHTTP, Run: carryOut,
		Lacks: map[string]string{"fork": children, "daemon": children},
	})
}

// web is a scenario that drives the demo agent as an HTTP application.
func web(do, more, backend string) string {
	return "drive:\n" + demoHTTP(do) + more + "\nbackend:\n  unpriced: true\n" + backend
}

// details returns the details of the events of a trial with a name.
func details(t record.Trial, name string) (all []string) {
	for _, e := range t.Events {
		if e.Name == name {
			all = append(all, fmt.Sprintf("%d: %s", e.N, e.Detail))
		}
	}
	return all
}

var _ = Describe("An HTTP application", func() {
	It("is driven at the address of a running application", func() {
		mux := http.NewServeMux()
		mux.HandleFunc("POST /say", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "You said %s.", r.FormValue("text"))
		})
		server := httptest.NewServer(mux)
		DeferCleanup(server.Close)
		t := done("drive:\n  http:\n    url: "+server.URL+"\n    request: {path: '/say?text={{urlquery .Turn}}'}\n    turns: [a b, ü]\n"+
			"backend: {unpriced: true, rules: [{text: unused}]}\nexpect: {status: done}\n", 1)
		Expect(answers(t)).To(Equal([]string{"You said a b.", "You said ü."}))
	})

	It("that cannot be reached is an error", func() {
		for _, c := range []struct{ do, timeout, message string }{
			{"start-exit", "1m", "ended before it accepted a request: the program"},
			{"start-hang", "200ms", "could not be spoken to within 200ms (health_timeout): connection refused"},
			// Long enough for a slow machine to start the program.
			{"start-ill", "4s", "/healthz answers with the HTTP status 503"},
		} {
			t := carryOut(context.Background(), "name: spec/one\n"+web(c.do, "    health_timeout: "+c.timeout+"\n"+twoTurns, twoReplies)+"expect: {status: done}\n")
			Expect(t.End.HarnessError).To(ContainSubstring(c.message))
			Expect(t.End.Status).To(Equal("error"))
		}
	})
})

var _ = Describe("An agent that is killed and started again at a turn", Label("H-04"), func() {
	// Both agents live for the session; the demo agent stores the conversation in the second form only.
	const forgets = "drive:\n  command:\n    run: [\"{rehearse}\", -session]\n    env: {REHEARSE_DEMO: command}\n    lives: session\n" +
		twoTurns + "backend:\n  unpriced: true\n" + twoReplies

	It("continues with what it stored", func() {
		d := driver(newEnv(), web("", twoTurns, twoReplies))
		Expect(d.Points()).To(And(HaveField("NoTurns", ""), HaveField("Turns", []string{perturb.Restart})))
		for _, n := range []string{"1", "2"} {
			t, _ := off(d, "turn="+n+":restart").Trial(context.Background(), 1)
			Expect(t.End.HarnessError).To(BeEmpty())
			Expect(t.End.Status).To(Equal("done"))
			Expect(answers(t)).To(Equal([]string{"It is this.", "Then that."}))
			Expect(t.Calls[1].Messages).To(HaveLen(4), "it remembers what was said")
			Expect(details(t, "perturbation")).To(Equal([]string{n + ": turn=" + n + ":restart"}))
			Expect(t.Script.Unfired).To(BeEmpty())
		}
	})

	It("continues without its state if it stored none", func() {
		t, _ := off(driver(newEnv(), forgets), "turn=2:restart").Trial(context.Background(), 1)
		Expect(t.End.Status).To(Equal("done"))
		Expect(t.Calls[1].Messages).To(HaveLen(2), "it has forgotten what was said")
	})

	It("has crashed if it does not start again", func() {
		t, _ := off(driver(newEnv(), web("start-once", twoTurns, twoReplies)), "turn=2:restart").Trial(context.Background(), 1)
		Expect(t.End.HarnessError).To(BeEmpty())
		Expect(t.End.Status).To(Equal("crashed"))
		Expect(t.End.Details).To(And(
			ContainSubstring("was killed before turn 2 and did not start again: the application ended before it accepted a request"),
			ContainSubstring("another one is running")))
		Expect(t.End.Iterations).To(Equal(1))
		Expect(t.Script.Unfired).To(BeEmpty())
	})

	It("reports a restart that did not happen", func() {
		d := driver(newEnv(), web("exit", twoTurns, twoReplies))
		t, _ := off(d, "turn=2:restart").Trial(context.Background(), 1)
		Expect(t.End.Status).To(Equal("failed"))
		Expect(t.Script.Unfired).To(Equal([]string{"turn=2:restart: there were 0 answered turns"}))
	})

	DescribeTable("cannot be restarted", func(text, perturbation, why string) {
		_, err := driver(newEnv(), text).Perturbed(perturbations(perturbation))
		Expect(err).To(MatchError(ContainSubstring(why)))
	},
		Entry("by another perturbation of a turn", forgets, "turn=2:double", "the perturbations of turns supported here are: restart"),
		Entry("if each turn is a process of its own", command("", twoTurns, twoReplies), "turn=2:restart", "impossible here: no process of the agent outlives a turn, or the harness did not start it"),
		Entry("if the harness did not start it", "drive: {http: {url: 'http://127.0.0.1:1', request: {path: '/{{.Turn}}'}, turns: [a]}}\nbackend: {unpriced: true, rules: [{text: x}]}\n",
			"turn=1:restart", "or the harness did not start it"),
	)
})
