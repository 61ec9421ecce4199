package stop

import "fmt"

// Bounds on the quotations among the attributes of a verdict; the length is in bytes.
const (
	maxQuotes = 8
	maxQuote  = 200
)

// Attrs returns the facts of a verdict as the attributes of an event, which is what
// recordings keep and measures read: "allow", "class", "policy", "point", "score",
// "detections" (real ones), "steps", and for each category that occurs
// "category.next_steps" and so on. The texts of the first real detections stand in
// order under "quote.1.next_steps", "quote.2.asks", ..., so that a reader can be shown
// what led to the verdict.
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
		if d.Text != "" && detections <= maxQuotes {
			attrs[fmt.Sprintf("quote.%d.%s", detections, d.Category)] = excerpt(d.Text, Span{End: len(d.Text)}, maxQuote)
		}
	}
	attrs["detections"] = detections
	return attrs
}

// Texts returns the descriptions of the steps, in order.
func Texts(steps []Step) []string {
	texts := make([]string, len(steps))
	for i, s := range steps {
		texts[i] = s.Description
	}
	return texts
}
