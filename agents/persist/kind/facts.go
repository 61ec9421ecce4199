package kind

import (
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// SuperviseFacts describe the work of a supervisor. All are 0 where none ran.
type SuperviseFacts struct {
	// Attempts counts attempts at tasks, and Graded by their grade; Retried counts those
	// after a failed one, Derived those at tasks made from failed checks or signs.
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
	// Stored is the number of stored records, Journal a hash of them without times, answers
	// and costs, which a run that was killed shares with an undisturbed one.
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
	// Rounds counts the continuations that failed checks forced.
	Rounds int `cel:"rounds" json:"rounds"`
	// Signs counts signs of a premature stop, by name.
	Signs map[string]int `cel:"signs" json:"signs,omitempty"`
	// Stagnations counts tasks that were ended for lack of activity, Stalls runs that were
	// active without progress.
	Stagnations int `cel:"stagnations" json:"stagnations"`
	Stalls      int `cel:"stalls" json:"stalls"`
	// Checkpoints counts checkpoints by reason: interval, soft-limit, context, segment, final.
	Checkpoints map[string]int `cel:"checkpoints" json:"checkpoints,omitempty"`
	// Segments is 1, plus 1 for each time the limit of tool calls split the run; ToolCalls
	// counts those of all attempts.
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

// The names of the events from which facts are read. The driver emits that of the plan,
// agents/persist the others.
const (
	taskName     = "task"
	checkName    = "check"
	checksName   = "checks"
	signName     = "sign"
	contextName  = "context"
	resumeName   = "resume"
	segmentName  = "segment"
	continueName = "continuation"
	planName     = "plan"
)

func factsOf(_ *record.Scenario, tr *record.Trial, _ *measure.Facts) any {
	f := &SuperviseFacts{}
	for i := range tr.Events {
		e := &tr.Events[i].Event
		switch {
		case e.Kind == event.Iteration && e.Name == taskName:
			f.attempt(e.Attrs)
		case e.Kind == event.Verdict && e.Name == checkName:
			f.check(e.Attrs)
		case e.Kind == event.Verdict && e.Name == checksName:
			f.Looks++
		case e.Kind == event.Guard:
			f.guard(e)
		case e.Kind == event.State && e.Name == contextName:
			f.context(e.Attrs)
		case e.Kind == event.State && e.Name == resumeName:
			f.Resumes++
		case e.Kind == event.Checkpoint && e.Name == planName:
			f.Planned, f.Open, f.Stored = measure.Int(e.Attrs["planned"]), measure.Int(e.Attrs["open"]), measure.Int(e.Attrs["stored"])
			f.Journal, _ = e.Attrs["journal"].(string)
		case e.Kind == event.Checkpoint && e.Attrs["records"] != nil:
			measure.Increment(&f.Checkpoints, e.Name)
		case e.Kind == event.End && e.Attrs["tasks"] != nil:
			f.Done, f.Tasks = measure.Int(e.Attrs["done"]), measure.Int(e.Attrs["tasks"])
		}
	}
	return f
}

func (f *SuperviseFacts) attempt(attrs map[string]any) {
	f.Attempts++
	f.Segments = max(f.Segments, measure.Int(attrs["segment"]))
	f.ToolCalls += measure.Int(attrs["calls"])
	f.Longest = max(f.Longest, measure.Int(attrs["calls"]))
	grade, _ := attrs["grade"].(string)
	measure.Increment(&f.Graded, grade)
	if measure.Int(attrs["attempt"]) > 1 {
		f.Retried++
	}
	if from, _ := attrs["from"].(string); from != "" {
		f.Derived++
	}
	if grade == "done" {
		id, _ := attrs["id"].(string)
		f.Order = append(f.Order, id)
	}
}

func (f *SuperviseFacts) check(attrs map[string]any) {
	name, _ := attrs["check"].(string)
	verdict, _ := attrs["verdict"].(string)
	if f.Last == nil {
		f.Last = map[string]string{}
	}
	f.Last[name] = verdict
	switch verdict {
	case "fail":
		measure.Increment(&f.Failed, name)
	case "unknown":
		measure.Increment(&f.Unknown, name)
	case "none":
		measure.Increment(&f.None, name)
	}
}

func (f *SuperviseFacts) guard(e *event.Event) {
	switch e.Name {
	case signName:
		sign, _ := e.Attrs["sign"].(string)
		measure.Increment(&f.Signs, sign)
	case continueName:
		f.Rounds++
	case "stagnation":
		f.Stagnations++
	case "no-progress":
		f.Stalls++
	}
}

func (f *SuperviseFacts) context(attrs map[string]any) {
	f.Files = measure.Int(attrs["files"])
	f.MaxFiles = max(f.MaxFiles, f.Files)
	f.Evicted += measure.Int(attrs["evicted"])
	f.Restored += measure.Int(attrs["restored"])
}
