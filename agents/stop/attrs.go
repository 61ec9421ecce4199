package stop

import "slices"

// Attrs are the facts of a verdict as the attributes of an event, which is what
// recordings keep and measures read: "allow", "class", "policy", "point", "score",
// "detections" (real ones), "steps", and for each category that occurs
// "category.next_steps" and so on.
func (v Verdict) Attrs() map[string]any {
	attrs := map[string]any{
		"allow":  v.MayStop,
		"class":  string(v.Class),
		"policy": string(v.Policy),
		"point":  string(v.Point),
		"score":  v.Score,
		"steps":  len(v.Steps),
	}
	detections := 0
	for _, d := range v.Detections {
		if !d.Real {
			continue
		}
		detections++
		key := "category." + string(d.Category)
		count, _ := attrs[key].(int)
		attrs[key] = count + 1
	}
	attrs["detections"] = detections
	return attrs
}

// Texts are the descriptions of the steps, in order.
func Texts(steps []Step) []string {
	texts := make([]string, len(steps))
	for i, s := range steps {
		texts[i] = s.Description
	}
	return texts
}

// Executed counts the steps that were left and are not left any more.
func Executed(before, now []string) int {
	n := 0
	for _, step := range before {
		if !slices.Contains(now, step) {
			n++
		}
	}
	return n
}
