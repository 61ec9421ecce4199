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
		return "it needs the user: " + r.asked() + r.strictly(v)
	case Suggests:
		return "it offers or suggests work" + r.strictly(v)
	default:
		if v.MayStop && !r.real {
			return "nothing announces work that was not done"
		}
		return "what it mentions is probably not deferred work" + r.strictly(v)
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
	return "its words"
}

// asked returns what the message asks for, by the first of two signals that was seen.
func (r *reading) asked() string {
	for _, s := range [...]signal{asksInput, offersChoice} {
		if r.evidence.seen(s) {
			return definitions[s].Meaning
		}
	}
	return "asks a question or waits"
}

// strictly adds the reason for which the strict policy refuses a message that is not of the
// class Defers.
func (r *reading) strictly(v Verdict) string {
	switch {
	case v.MayStop:
		return ""
	case v.NeedsApproval:
		return fmt.Sprintf("; the policy %s refuses that, too", v.Policy)
	}
	return fmt.Sprintf("; it defers work with a probability of %.2f, too much for the policy %s", v.Score, v.Policy)
}
