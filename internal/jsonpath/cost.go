package jsonpath

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxCost limits the work of one evaluation, in visits of values: about half a second on a
// machine of 2025.
const maxCost = 1e8

// factors are the parts of a path that multiply its cost.
type factors struct {
	descents int     // of ".."
	roots    int     // of "$" in filters
	unions   float64 // the product of the lengths of its lists, such as [0,1]
}

// factorsOf counts the factors in the text of a path. Text in quotes and filters counts
// too, so they may be too high but not too low.
func factorsOf(text string) factors {
	f := factors{descents: strings.Count(text, ".."), roots: strings.Count(text, "$") - 1, unions: 1}
	depth, commas := 0, 0
	for _, c := range text {
		switch c {
		case '[':
			depth++
		case ',':
			commas++
		case ']':
			if depth--; depth <= 0 {
				f.unions *= float64(commas + 1)
				depth, commas = 0, 0
			}
		}
	}
	f.unions *= float64(commas + 1)
	return f
}

// checkCost refuses an evaluation that could take too long. A descent visits each value
// once for each level above it, the next descent does so from each of these visits, a
// filter may visit the whole document for each value, and a list repeats the rest of the
// path.
func (f factors) checkCost(data []byte) error {
	if f.descents == 0 && f.roots == 0 && f.unions == 1 {
		return nil
	}
	values, depth, err := measure(data)
	if err != nil {
		return err
	}
	cost := f.unions * math.Pow(float64(depth+1), float64(f.descents)) * math.Pow(float64(values), float64(f.roots+1))
	if cost > maxCost {
		return fmt.Errorf("%w: %d values, %d levels deep, with %d times \"..\"", ErrCost, values, depth, f.descents)
	}
	return nil
}

// measure returns the number of values and levels of a document.
func measure(data []byte) (values, depth int, err error) {
	d := jsontext.NewDecoder(strings.NewReader(string(data)), jsontext.AllowDuplicateNames(true))
	for {
		_, err := d.ReadToken()
		if errors.Is(err, io.EOF) {
			return values, depth, nil
		}
		if err != nil {
			return 0, 0, fmt.Errorf("%w: %w", ErrNotJSON, err)
		}
		values++
		depth = max(depth, d.StackDepth())
	}
}
