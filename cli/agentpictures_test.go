package cli

import (
	"fmt"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/agents/react/step"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// TestAgentPictures compares docs/reference/react.svg and docs/reference/supervisor.svg with the code: a
// decision, move or status that is new is drawn or fails; "make golden" draws them.
func TestAgentPictures(t *testing.T) {
	for file, draw := range map[string]func(*testing.T) string{"react.svg": drawReact, "supervisor.svg": drawSupervisor} {
		got, path := draw(t), "../docs/reference/"+file
		if *update {
			gomega.NewWithT(t).Expect(os.WriteFile(path, []byte(got), 0o600)).To(gomega.Succeed())
		}
		want, err := os.ReadFile(path)
		gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
		gomega.NewWithT(t).Expect(got).To(gomega.Equal(string(want)), "run make golden")
	}
}

// paint is a fill with its stroke.
type paint [2]string

var (
	plainPaint = paint{"#e3effc", "#2b6cb0"}
	modelPaint = paint{"#fff3d6", "#b7791f"}
	goodPaint  = paint{"#e5f4e3", "#2f7a2f"}
	otherPaint = paint{"#f0eafa", "#6b46a8"}
	badPaint   = paint{"#fde8e6", "#b3372b"}
)

// drawing is a picture under way, in its own units.
type drawing struct{ strings.Builder }

const boxHeight = 46

func (d *drawing) box(x, y, w int, p paint, title, sub string) {
	fmt.Fprintf(d, `<rect x="%d" y="%d" width="%d" height="%d" rx="9" fill="%s" stroke="%s" stroke-width="1.4"/>`+"\n", x, y, w, boxHeight, p[0], p[1])
	fmt.Fprintf(d, `<text x="%d" y="%d" text-anchor="middle" font-weight="600" fill="#1a202c">%s</text>`+"\n", x+w/2, y+20, html.EscapeString(title))
	fmt.Fprintf(d, `<text x="%d" y="%d" text-anchor="middle" font-size="12" fill="%s">%s</text>`+"\n", x+w/2, y+36, p[1], html.EscapeString(sub))
}

func (d *drawing) arrow(path string, dashed bool) {
	dash := ""
	if dashed {
		dash = ` stroke-dasharray="4 3"`
	}
	fmt.Fprintf(d, `<path d="%s" fill="none" stroke="#4a5568" stroke-width="1.3"%s marker-end="url(#tip)"/>`+"\n", path, dash)
}

func (d *drawing) text(x, y int, anchor, text string) {
	fmt.Fprintf(d, `<text x="%d" y="%d" text-anchor="%s" font-size="12" fill="#4a5568">%s</text>`+"\n", x, y, anchor, html.EscapeString(text))
}

func (d *drawing) picture(width, height int, label string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s" font-family="system-ui, sans-serif" font-size="13">
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z" fill="#4a5568"/></marker></defs>
<rect width="100%%" height="100%%" fill="#ffffff"/>
%s</svg>
`, width, height, label, d.String())
}

// drawReact draws the cycle of the ReAct engine and how it ends.
func drawReact(t *testing.T) string {
	t.Helper()
	agent, err := agentfile.Load("a.agent.md", []byte("---\nid: a\ncontract: {constraints: [Short.]}\n---\nYou are a.\n"))
	if err != nil {
		t.Fatal(err)
	}
	const y, w, pitch = 70, 160, 218
	var d drawing
	for i, b := range []struct {
		paint
		title, sub string
	}{
		{plainPaint, "task", "held against the contract"},
		{modelPaint, "thought + action", "the model"},
		{plainPaint, "observation", "the engine does it"},
		{modelPaint, "reflection", "the model"},
		{modelPaint, "decision", "the model"},
	} {
		x := 20 + i*pitch
		d.box(x, y, w, b.paint, b.title, b.sub)
		if i > 0 {
			d.arrow(fmt.Sprintf("M%d %dH%d", x-pitch+w, y+boxHeight/2, x-1), false)
		}
		if i == 1 || i == 3 {
			d.arrow(fmt.Sprintf("M%d %dc-10 30 60 30 50 1", x+55, y+boxHeight), true)
			d.text(x+w/2, y+boxHeight+38, "middle", "refused: counts, asked again")
		}
	}
	decision, act := 20+4*pitch+w/2, 20+pitch+w/2
	d.arrow(fmt.Sprintf("M%d %dV36H%dV%d", decision, y, act, y-1), false)
	d.text((decision+act)/2, 28, "middle", fmt.Sprintf("%s: %d iterations at most, then %s", step.Continue, agent.MaxIterations, step.Escalate))

	byDecision := map[react.Status]bool{}
	row := 200
	for _, choice := range step.Decisions() {
		if choice == step.Continue {
			continue
		}
		status := react.Status(choice)
		byDecision[status] = true
		d.ending(620, row, 200, string(status), status.ExitCode())
		d.text(decision-12, row+boxHeight/2-6, "end", string(choice))
		d.arrow(fmt.Sprintf("M%d %dV%dH%d", decision, y+boxHeight, row+boxHeight/2, 821), false)
		if choice == step.Done || choice == step.DonePartial { // it lies between the decision and its end
			d.text(decision-12, row+boxHeight/2+16, "end", "after the verification")
		}
		row += 58
	}
	d.text(612, 200+boxHeight/2-4, "end", "a part of the verification that does not hold")
	d.text(612, 200+boxHeight/2+12, "end", "is revised once; then done_partial")
	d.text(20, 306, "start", "at any time")
	x := 20
	for _, s := range react.Statuses() {
		if !byDecision[s.Status] {
			d.ending(x, 318, 128, string(s.Status), s.ExitCode)
			x += 140
		}
	}
	return d.picture(20+4*pitch+w+20, row+10, "The cycle of the ReAct engine")
}

// ending draws a status with its exit code.
func (d *drawing) ending(x, y, w int, status string, code int) {
	p := otherPaint
	switch code {
	case 0:
		p = goodPaint
	case 1:
		p = badPaint
	}
	d.box(x, y, w, p, status, fmt.Sprintf("exit code %d", code))
}

// drawSupervisor draws the loop of the supervisor.
func drawSupervisor(t *testing.T) string {
	t.Helper()
	l := plan.Limits{}.WithDefaults()
	short := func(u quantity.Duration) string {
		return strings.NewReplacer("m0s", "m", "h0m", "h").Replace(u.Std().String())
	}
	subs := map[string]string{
		"intent":  "an intent, the worker's attempt, its outcome",
		"check":   fmt.Sprintf("each %d tasks, with none to do, after a round", l.CheckEvery),
		"derive":  fmt.Sprintf("a round: tasks made of failed checks; %d at most", l.Rounds),
		"segment": fmt.Sprintf("%d tool calls: a fresh conversation", l.HardCalls),
		"end":     "nothing is left to do, or no round helps",
	}
	moves := constants(t, "../agents/persist/state", regexp.MustCompile("^Kind(Intent|Check|Derive|Segment|End)$"))
	const x, w, top = 720, 330, 40
	middle := top + len(moves)*58/2 - boxHeight/2
	var d drawing
	d.box(20, middle, 170, plainPaint, "journal", "records, each with its sum")
	d.box(250, middle, 170, plainPaint, "state", "a fold over the records")
	d.box(480, middle, 170, plainPaint, "what next?", "asked of the state alone")
	d.arrow(fmt.Sprintf("M190 %dH249", middle+boxHeight/2), false)
	d.arrow(fmt.Sprintf("M420 %dH479", middle+boxHeight/2), false)
	for i, move := range moves {
		if subs[move] == "" {
			t.Fatalf("the move %q is new: say what it does", move)
		}
		y, p := top+i*58, modelPaint
		if move == "end" {
			p = goodPaint
		}
		d.box(x, y, w, p, strings.Replace(move, "intent", "attempt", 1), subs[move])
		d.arrow(fmt.Sprintf("M650 %dH685V%dH%d", middle+boxHeight/2, y+boxHeight/2, x-1), false)
		fmt.Fprintf(&d, `<path d="M%d %dh16" stroke="#4a5568" stroke-width="1.3"/>`+"\n", x+w, y+boxHeight/2)
	}
	bottom := top + len(moves)*58 + 14
	d.arrow(fmt.Sprintf("M%d %dV%dH105V%d", x+w+16, top+boxHeight/2, bottom, middle+boxHeight+1), false)
	d.text(430, bottom-8, "middle", "records, on the disk before it goes on")
	d.text(20, 54, "start", fmt.Sprintf("meanwhile: a checkpoint every %s; a task without activity for %s has failed;", short(l.SaveEvery), short(l.Stagnation)))
	d.text(20, 72, "start", fmt.Sprintf("a look at the context every %s; signs of a premature stop", short(l.OptimiseEvery)))
	at := 20
	for _, s := range persist.Statuses() {
		d.ending(at, bottom+34, 138, string(s.Status), s.ExitCode)
		at += 148
	}
	return d.picture(x+w+30, bottom+100, "The loop of the supervisor")
}
