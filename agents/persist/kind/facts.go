package kind

import (
	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// SuperviseFacts are the facts about a supervisor; zero if none ran.
type SuperviseFacts struct {
	// Attempts counts attempts at tasks, and Graded by grade. Retried counts retries, Derived
	// attempts at derived tasks.
	Attempts int            `cel:"attempts" json:"attempts"`
	Graded   map[string]int `cel:"graded" json:"graded,omitempty"`
	Retried  int            `cel:"retried" json:"retried"`
	Derived  int            `cel:"derived" json:"derived"`
	// Done counts the tasks that are done at the end, Tasks all of them.
	Done  int `cel:"done" json:"done"`
	Tasks int `cel:"tasks" json:"tasks"`
	// Planned counts the tasks of the plan itself that are done at the end.
	Planned int `cel:"planned" json:"planned"`
	// Open counts the tasks that are neither done nor dropped at the end.
	Open int `cel:"open" json:"open"`
	// Stored is the number of stored records, Journal their hash without times, answers and costs,
	// which is the same after crashes.
	Stored  int    `cel:"stored" json:"stored,omitempty"`
	Journal string `cel:"journal" json:"journal,omitempty"`
	// Order are the ids of the tasks in the order in which they were done.
	Order []string `cel:"order" json:"-"`
	// Looks counts full checks and re-checks; Failed, Unknown and None count the verdicts
	// of single checks in them, by the check's name.
	Looks   int            `cel:"looks" json:"looks"`
	Failed  map[string]int `cel:"failed" json:"failed,omitempty"`
	Unknown map[string]int `cel:"unknown" json:"unknown,omitempty"`
	None    map[string]int `cel:"none" json:"none,omitempty"`
	// Last is the last verdict of each check.
	Last map[string]string `cel:"last" json:"last,omitempty"`
	// Accepted and Refused count the acceptance commands that passed, and that did not.
	Accepted int `cel:"accepted" json:"accepted,omitempty"`
	Refused  int `cel:"refused" json:"refused,omitempty"`
	// Rounds counts the continuations that failed checks forced.
	Rounds int `cel:"rounds" json:"rounds"`
	// Signs counts signs of a premature stop, by name.
	Signs map[string]int `cel:"signs" json:"signs,omitempty"`
	// Stagnations counts attempts ended for lack of activity, Stalls attempts ended for lack of
	// progress.
	Stagnations int `cel:"stagnations" json:"stagnations"`
	Stalls      int `cel:"stalls" json:"stalls"`
	// Checkpoints counts checkpoints by reason: interval, soft-limit, context, segment, final.
	Checkpoints map[string]int `cel:"checkpoints" json:"checkpoints,omitempty"`
	// Segments counts the segments of the run; ToolCalls counts the tool calls of all attempts.
	Segments  int `cel:"segments" json:"segments"`
	ToolCalls int `cel:"tool_calls" json:"tool_calls"`
	// Longest is the largest number of tool calls of one attempt, which a crash repeats.
	Longest int `cel:"longest" json:"longest,omitempty"`
	// Evicted and Restored count files that left the context and came back; Files is the
	// number in the context at the last change, MaxFiles the largest at any change.
	Evicted  int `cel:"evicted" json:"evicted"`
	Restored int `cel:"restored" json:"restored"`
	Files    int `cel:"files" json:"files"`
	MaxFiles int `cel:"max_files" json:"max_files"`
	// Resumes is the number of times that the run was resumed.
	Resumes int `cel:"resumes" json:"resumes"`
}

// planStored reports the stored state at the end of a trial: done tasks of the plan, open tasks,
// records, and their hash.
type planStored struct {
	Journal string `json:"journal"`
	Open    int    `json:"open"`
	Planned int    `json:"planned"`
	Stored  int    `json:"stored"`
}

// Event implements event.Payload.
func (planStored) Event() (event.Kind, string) { return event.Checkpoint, "plan" }

func factsOf(_ *record.Scenario, tr *record.Trial, _ *measure.Facts) any {
	f := &SuperviseFacts{}
	for i := range tr.Events {
		e := &tr.Events[i].Event
		switch e.Kind {
		case event.Iteration:
			f.addAttempt(e)
		case event.Verdict:
			f.addVerdict(e)
		case event.Guard:
			f.addGuard(e)
		case event.State:
			f.addState(e)
		case event.Checkpoint:
			f.addCheckpoint(e)
		case event.End:
			if end, ok := event.Read[persist.Ended](e); ok && end.Tasks > 0 {
				f.Done, f.Tasks = end.Done, end.Tasks
			}
		case event.HandOver, event.Tool:
		}
	}
	return f
}

func (f *SuperviseFacts) addAttempt(e *event.Event) {
	a, ok := event.Read[persist.Attempted](e)
	if !ok {
		return
	}
	f.Attempts++
	f.Segments = max(f.Segments, a.Segment)
	f.ToolCalls += a.Calls
	f.Longest = max(f.Longest, a.Calls)
	measure.Increment(&f.Graded, a.Grade)
	if a.Attempt > 1 {
		f.Retried++
	}
	if a.From != "" {
		f.Derived++
	}
	if a.Grade == string(persist.Done) {
		f.Order = append(f.Order, a.ID)
	}
}

func (f *SuperviseFacts) addVerdict(e *event.Event) {
	if a, ok := event.Read[persist.Accepted](e); ok {
		if a.Verdict == plan.Pass {
			f.Accepted++
		} else {
			f.Refused++
		}
	}
	if _, ok := event.Read[persist.ChecksMade](e); ok {
		f.Looks++
	}
	c, ok := event.Read[persist.Checked](e)
	if !ok {
		return
	}
	name := string(c.Check)
	if f.Last == nil {
		f.Last = map[string]string{}
	}
	f.Last[name] = string(c.Verdict)
	switch c.Verdict {
	case plan.Fail:
		measure.Increment(&f.Failed, name)
	case plan.Unknown:
		measure.Increment(&f.Unknown, name)
	case plan.None:
		measure.Increment(&f.None, name)
	case plan.Pass:
	}
}

func (f *SuperviseFacts) addGuard(e *event.Event) {
	if s, ok := event.Read[persist.SignSeen](e); ok {
		measure.Increment(&f.Signs, string(s.Sign))
	}
	if _, ok := event.Read[persist.RoundBegun](e); ok {
		f.Rounds++
	}
	switch e.Name {
	case state.CauseStagnation:
		f.Stagnations++
	case state.CauseNoProgress:
		f.Stalls++
	}
}

func (f *SuperviseFacts) addState(e *event.Event) {
	if c, ok := event.Read[persist.ContextChanged](e); ok {
		f.Files = c.Files
		f.MaxFiles = max(f.MaxFiles, c.Files)
		f.Evicted += c.Evicted
		f.Restored += c.Restored
	}
	if _, ok := event.Read[persist.Resumed](e); ok {
		f.Resumes++
	}
}

func (f *SuperviseFacts) addCheckpoint(e *event.Event) {
	if p, ok := event.Read[planStored](e); ok {
		f.Planned, f.Open, f.Stored, f.Journal = p.Planned, p.Open, p.Stored, p.Journal
	}
	if c, ok := event.Read[persist.Checkpointed](e); ok && c.Records > 0 {
		measure.Increment(&f.Checkpoints, e.Name)
	}
}
