package replay_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/agents/react/replay"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/openai"
	"github.com/rehearse-dev/rehearse/mocks"
)

func TestReplay(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/react/replay")
}

// replies is a whole run: it reads, writes, asks a person, escalates, and ends.
var replies = []string{
	"thought: I read the orders.\naction: analyze\naction_input: {target: orders.csv}\n",
	"reflection: orders.csv has 3 lines.\ndecision: continue\n---\nthought: I note that.\naction: generate\naction_input: {type: text, path: note.txt, spec: three lines}\n",
	"reflection: note.txt has 11 bytes.\ndecision: continue\n---\nthought: Whose are they?\naction: request_info\naction_input: {question: Whose orders?}\n",
	"reflection: The person answered Ann.\ndecision: escalate\ntrigger: ambiguity\nreason: Which Ann?\n",
	"thought: I note the name.\naction: generate\naction_input: {type: text, path: name.txt, spec: Ann B.}\n",
	"reflection: name.txt has 6 bytes.\ndecision: done\nreason: noted\n---\nverification:\n  completeness: {check: [topic orders]}\n  consistency: {check: [orders.csv]}\n" +
		"  correctness: {check: [Ann B.]}\n  constraints: {check: [none]}\n---\nNoted.\n",
}

// answers are the person's.
var answers = map[string]string{"Whose orders?": "Ann", "Which Ann?": "Ann B."}

type person func(string) (string, bool)

func (p person) Ask(_ context.Context, question, _ string) (string, bool) { return p(question) }

// world is what a run changes: it survives a kill.
type world struct {
	files   map[string]string
	done    []string // actions
	calls   int
	records []replay.Record
	fail    int // fails the write of this record, from 1; as a kill before it
}

var errKilled = errors.New("killed")

func (w *world) Do(_ context.Context, id, input string) (action.Result, error) {
	w.done = append(w.done, id)
	var in struct {
		Target string `yaml:"target,omitempty"`
		Type   string `yaml:"type,omitempty"`
		Path   string `yaml:"path,omitempty"`
		Spec   string `yaml:"spec,omitempty"`
	}
	if err := action.Decode(input, &in); err != nil {
		return action.Result{}, err
	}
	if id == "analyze" {
		return action.Result{Observation: "orders.csv: 3 lines", Read: []string{"orders.csv"}}, nil
	}
	w.files[in.Path] = in.Spec
	return action.Result{Observation: "wrote " + in.Path + ": 11 bytes, 6 bytes", Written: []string{in.Path}}, nil
}

func (*world) Describe() string { return "" }

func (*world) Declare() []action.Declaration { return nil }

// write stores a record, as the transcript does: as JSON.
func (w *world) write(r replay.Record) error {
	if w.fail > 0 && len(w.records)+1 >= w.fail {
		return errKilled
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	var back replay.Record
	err = json.Unmarshal(data, &back)
	w.records = append(w.records, back)
	return err
}

// run begins the run, or continues it, with the replies of the script that are left.
func (w *world) run(script []string, a *agentfile.Agent) (react.Result, *replay.Log) {
	GinkgoHelper()
	var lines []mocks.Line
	for _, text := range script {
		lines = append(lines, mocks.Say(text))
	}
	virtual := clock.NewVirtual()
	program, err := mocks.Compile(mocks.Script{Replies: append(lines, mocks.Say("x"))})
	Expect(err).NotTo(HaveOccurred())
	backend, err := openai.New(openai.Config{
		BaseURL: "http://127.0.0.1/v1", Clock: virtual, Retry: openai.RetryPolicy{Max: -1},
		Transport: mocks.NewTransport(mocks.NewEngine(program, mocks.EngineOptions{Clock: virtual})),
	})
	Expect(err).NotTo(HaveOccurred())
	log := replay.New(w.records, w.write)
	ask := log.Person(person(func(q string) (string, bool) { text, ok := answers[q]; return text, ok }))
	return react.Run(context.Background(), a, react.Task{Do: "Note the orders."}, react.Options{MaxIterations: 9}, react.Deps{
		Backend: log.Backend(llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			w.calls++
			return backend.Complete(ctx, req)
		})),
		Actions: log.Actions(func(*agentfile.Agent) (action.Set, error) { return w, nil }),
		Person:  ask, Clock: virtual,
		Answer: func(ctx context.Context, q string) (string, bool) { return ask.Ask(ctx, q, "") },
	}), log
}

func agent() *agentfile.Agent {
	return &agentfile.Agent{ID: "clerk", Body: "You keep orders.", MaxIterations: 5}
}

// repliesIn counts recorded replies.
func repliesIn(records []replay.Record) (n int) {
	for _, r := range records {
		if r.Type == replay.Reply {
			n++
		}
	}
	return n
}

var _ = Describe("A run that is continued", Label("R-07"), func() {
	It("needs no call for what is recorded", func() {
		w := &world{files: map[string]string{}}
		res, _ := w.run(replies, agent())
		Expect(res.Status).To(Equal(react.StatusDone), res.Details)
		again := &world{files: map[string]string{}, records: w.records}
		same, log := again.run(nil, agent())
		Expect(again.calls).To(BeZero())
		Expect(again.done).To(BeEmpty())
		Expect(log.Playing()).To(BeFalse())
		Expect(same).To(Equal(res))
	})

	It("ends as if nothing had happened, wherever it was killed, and does no action twice that changes something", func() {
		whole := &world{files: map[string]string{}}
		want, _ := whole.run(replies, agent())
		Expect(whole.records).To(HaveLen(14))
		for kill := 1; kill <= len(whole.records); kill++ {
			w := &world{files: map[string]string{}, fail: kill}
			res, _ := w.run(replies, agent())
			Expect(res.Status).To(BeElementOf(react.StatusError, react.StatusEscalate), "killed before record %d", kill)
			Expect(w.records).To(HaveLen(kill - 1))
			lost := w.records
			w.fail, w.calls = 0, 0
			res, _ = w.run(replies[repliesIn(lost):], agent())
			cut := len(lost) > 0 && lost[len(lost)-1].Type == replay.Action && lost[len(lost)-1].Action.ID == "generate"
			if cut { // the agent learns it, which its script did not expect
				Expect(observations(res)).To(ContainElement(HavePrefix("interrupted: the run was stopped while")))
				continue
			}
			Expect(w.calls).To(Equal(len(replies) - repliesIn(lost)))
			Expect(res.Output).To(Equal(want.Output), "killed before record %d: %s", kill, res.Details)
			Expect(w.files).To(Equal(whole.files))
		}
	})

	It("gives the answer to the question it ended with", func() {
		w := &world{files: map[string]string{}}
		known := answers["Which Ann?"]
		delete(answers, "Which Ann?")
		res, _ := w.run(replies[:4], agent())
		answers["Which Ann?"] = known
		Expect(res.Status).To(Equal(react.StatusEscalate))
		Expect(res.Question).To(Equal("Which Ann?"))
		res, _ = w.run(replies[4:], agent())
		Expect(res.Status).To(Equal(react.StatusDone), res.Details)
		Expect(res.Transcript[2].Answer).To(Equal("Ann B."))
		Expect(w.done).To(Equal([]string{"analyze", "generate", "generate"}))
	})

	It("reports a run that does not repeat the recorded one", func() {
		w := &world{files: map[string]string{}}
		w.run(replies, agent())
		w.records[1].Action.ID = "search"
		res, _ := w.run(nil, agent())
		Expect(res.Status).To(Equal(react.StatusError))
		Expect(res.Err).To(MatchError(replay.ErrDiverged))
		w.records = w.records[1:]
		res, _ = w.run(nil, agent())
		Expect(res.Err).To(MatchError(ContainSubstring("recorded: action, now: reply")))
	})
})

// observations returns those of a result.
func observations(res react.Result) (all []string) {
	for _, e := range res.Transcript {
		all = append(all, e.Observation)
	}
	return all
}
