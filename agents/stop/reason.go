package stop

import (
	"fmt"
	"strings"
)

// reason explains the verdict in a sentence.
func (r *reading) reason(v Verdict) string {
	why := r.why(v)
	if more := r.found - len(v.Detections); more > 0 {
		why += fmt.Sprintf(" (%d more mentions are not listed)", more)
	}
	return why
}

func (r *reading) why(v Verdict) string {
	switch v.Class {
	case Defers:
		return "it defers work: " + heaviest(v.Signals)
	case Asks:
		if v.NeedsApproval {
			return "it waits for a person to approve or to confirm" + r.strictly(v)
		}
		return "it needs the user: " + r.either(asksInput, offersChoice) + r.strictly(v)
	case Suggests:
		return "what it names is an offer or a suggestion" + r.strictly(v)
	default:
		if r.real {
			return "what it mentions does not weigh enough to be work put off" + r.strictly(v)
		}
		return "nothing announces work that was not done"
	}
}

// heaviest returns the meaning of the signal that speaks most for deferral, with its words.
func heaviest(all []Signal) string {
	for _, s := range all {
		if s.Weight <= 0 {
			continue
		}
		for _, d := range definitions {
			if d.Name == s.Name {
				return fmt.Sprintf("%s (%q)", d.Meaning, strings.Join(strings.Fields(s.Text), " "))
			}
		}
	}
	return "the sum of its signals"
}

// either returns the meaning of the first of two signals that was seen.
func (r *reading) either(a, b signal) string {
	if r.evidence.seen(a) {
		return definitions[a].Meaning
	}
	return definitions[b].Meaning
}

// strictly adds what the strict policy makes of the message.
func (r *reading) strictly(v Verdict) string {
	if v.Policy != Strict || !r.real {
		return ""
	}
	return "; the strict policy refuses every real mention"
}
