package mocks

import (
	"fmt"
	"math"
	"slices"
)

// choice is a possible answer of a line.
type choice struct {
	reply
	// below is the sum of the chances up to and including this one.
	below float64
}

// slack is the tolerance for a sum of chances: three thirds do not sum to exactly 1.
const slack = 1e-9

// compileChoices compiles the choices; each inherits the latency and usage of the line.
func compileChoices(name string, l *Line) ([]choice, error) {
	if len(l.OneOf) == 0 {
		return nil, nil
	}
	choices, sum := make([]choice, len(l.OneOf)), 0.0
	rest := 1 - l.chances()
	for i := range l.OneOf {
		a := l.OneOf[i].Answer
		if a.Latency == nil {
			a.Latency = l.Latency
		}
		if a.Usage == nil {
			a.Usage = l.Usage
		}
		r, err := compileReply(fmt.Sprintf("%s.one_of[%d]", name, i), &a)
		if err != nil {
			return nil, err
		}
		if chance := l.OneOf[i].Chance; chance != nil {
			sum += *chance
		} else {
			sum += rest
		}
		choices[i] = choice{r, sum}
	}
	return choices, nil
}

// chances returns the sum of the given chances.
func (l *Line) chances() float64 {
	sum := 0.0
	for _, c := range l.OneOf {
		if c.Chance != nil {
			sum += *c.Chance
		}
	}
	return sum
}

// draw returns the answer of line l to the attempt of x, or the nth choice of several; nth is "" for
// the first.
func (e *Engine) draw(x *Exchange, l *line, nth string) *reply {
	if len(l.choices) == 0 {
		return &l.own
	}
	u := unitInterval(e.random(x, "choice"+nth))
	last := 0
	for i := range l.choices {
		if c := &l.choices[i]; u < c.below {
			return &c.reply
		}
		if i > 0 && l.choices[i].below > l.choices[i-1].below {
			last = i
		}
	}
	// The sum is less than 1 by up to slack: take the last one with a chance above 0.
	return &l.choices[last].reply
}

// choices checks the possible answers of a line.
func (v *validator) choices(path string, l *Line) {
	for _, key := range given(slices.Concat(l.contents(), l.additions(), []answerPart{{"fault", l.Fault != nil}})) {
		v.add(path+"."+key, "a line with one_of cannot have %s; put it into a choice", key)
	}
	open, valid := 0, true
	for i := range l.OneOf {
		c, at := &l.OneOf[i], fmt.Sprintf("%s.one_of[%d]", path, i)
		if c.Chance == nil {
			open++
		} else if !(*c.Chance >= 0 && *c.Chance <= 1) {
			v.add(at+".chance", "a chance is between 0 and 1, not %v", *c.Chance)
			valid = false
		}
		v.answer(at, &c.Answer, "choice")
		v.measured(at, &c.Answer)
		if f := c.Fault; f != nil {
			if f.Times != 0 {
				v.add(at+".fault.times", "the fault of a choice fires whenever the choice is drawn; remove times")
			}
			v.fault(at, f)
		}
	}
	v.mediaChoices(path, l)
	if valid {
		v.sum(path+".one_of", l.chances(), open)
	}
}

// sum checks the sum of the given chances; open is the number of choices without one.
func (v *validator) sum(path string, sum float64, open int) {
	switch {
	case open > 1:
		v.add(path, "%d choices have no chance; at most one may omit it and gets the rest of 1", open)
	case open == 1 && sum > 1-slack:
		v.add(path, "the chances sum to %.6g, which leaves nothing for the choice without one", sum)
	case open == 0 && math.Abs(sum-1) > slack:
		v.add(path, "the chances sum to %.6g, not to 1; correct them, or omit one, which then gets the rest", sum)
	}
}
