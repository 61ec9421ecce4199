package perturb

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/mocks"
)

// Parse reads the text form of a perturbation: POINT=N:WHAT[,OPTION=VALUE]...
func Parse(text string) (Perturbation, error) {
	where, what, ok := strings.Cut(text, ":")
	point, number, counted := strings.Cut(where, "=")
	n, err := strconv.Atoi(number)
	if !ok || !counted || err != nil || n < 1 {
		return Perturbation{}, fmt.Errorf("%.80q is no perturbation; write point=number:what, such as call=7:reset-mid-stream", text)
	}
	do, options, _ := strings.Cut(what, ",")
	p := Perturbation{At: Point(point), N: n, Do: do}
	if p.At == Call && do != Latency && !strings.HasPrefix(do, "text-") {
		p.Fault = &mocks.Fault{Kind: do}
	}
	for options != "" {
		var option string
		option, options, _ = strings.Cut(options, ",")
		name, value, _ := strings.Cut(option, "=")
		if err := p.set(name, value); err != nil {
			return p, fmt.Errorf("perturbation %.80q: %w", text, err)
		}
	}
	return p, nil
}

func (p *Perturbation) set(name, value string) (err error) {
	switch {
	case name == "first" && p.Do == Latency:
		err = p.First.UnmarshalText([]byte(value))
	case name == "every" && p.At == Write:
		p.Every, err = strconv.Atoi(value)
	case p.Fault != nil && name == "status":
		p.Fault.Status, err = strconv.Atoi(value)
	case p.Fault != nil && name == "times":
		p.Fault.Times, err = strconv.Atoi(value)
	case p.Fault != nil && name == "after":
		var n int
		n, err = strconv.Atoi(value)
		p.Fault.After = &n
	case p.Fault != nil && name == "retry_after":
		err = p.Fault.RetryAfter.UnmarshalText([]byte(value))
	case p.Fault != nil && name == "delay":
		err = p.Fault.Delay.UnmarshalText([]byte(value))
	default:
		return fmt.Errorf("there is no option %q here", name)
	}
	return err
}

// String is the text form, which Parse reads.
func (p Perturbation) String() string {
	text := fmt.Sprintf("%s=%d:%s", p.At, p.N, p.Do)
	add := func(name string, given bool, value any) {
		if given {
			text += fmt.Sprintf(",%s=%v", name, value)
		}
	}
	add("first", p.First != 0, p.First)
	add("every", p.Every != 0, p.Every)
	if f := p.Fault; f != nil {
		add("status", f.Status != 0, f.Status)
		add("retry_after", f.RetryAfter != 0, f.RetryAfter)
		if f.After != nil {
			add("after", true, *f.After)
		}
		add("delay", f.Delay != 0, f.Delay)
		add("times", f.Times != 0, f.Times)
	}
	return text
}

// MarshalText implements encoding.TextMarshaler.
func (p Perturbation) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Perturbation) UnmarshalText(text []byte) (err error) {
	*p, err = Parse(string(text))
	return err
}
