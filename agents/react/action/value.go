package action

import (
	"encoding/json"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"unicode"
)

// lookUp returns the value at a path such as a.b[0].c or ["a.b"].c; "." is the whole
// value.
func lookUp(value any, path string) (any, bool) {
	for rest := strings.TrimPrefix(path, "$"); rest != "" && rest != "."; {
		var key string
		switch {
		case strings.HasPrefix(rest, `["`):
			quoted, err := strconv.QuotedPrefix(rest[1:])
			if err != nil || !strings.HasPrefix(rest[1+len(quoted):], "]") {
				return nil, false
			}
			key, _ = strconv.Unquote(quoted)
			rest = rest[len(quoted)+2:]
		case rest[0] == '[':
			index, after, closed := strings.Cut(rest[1:], "]")
			items, _ := value.([]any) // what is no list has no items
			i, err := strconv.Atoi(index)
			if !closed || err != nil || i < 0 || i >= len(items) {
				return nil, false
			}
			value, rest = items[i], after
			continue
		default:
			rest = strings.TrimPrefix(rest, ".")
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			key, rest = rest[:end], rest[end:]
		}
		object, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, ok = object[key]; !ok {
			return nil, false
		}
	}
	return value, true
}

func isNumber(value any) bool {
	_, ok := value.(json.Number)
	return ok
}

// order compares two values: texts by their characters, numbers by their size, others only
// for equality. It reports false for values that it cannot compare.
func order(a, b any) (sign int, ok bool) {
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		return strings.Compare(x, y), ok
	case json.Number:
		if y, ok := b.(json.Number); ok {
			return orderNumbers(x.String(), y.String())
		}
		return 0, false
	}
	return 0, reflect.DeepEqual(a, b)
}

// maxDigits is the largest number of characters of a number that orderNumbers compares exactly.
const maxDigits = 100

// orderNumbers compares numbers of up to maxDigits characters.
func orderNumbers(a, b string) (sign int, ok bool) {
	if a == b {
		return 0, true
	}
	if max(len(a), len(b)) > maxDigits {
		return 0, false
	}
	const bits = 4 * maxDigits // more than all digits need
	x, _, err1 := big.ParseFloat(a, 10, bits, big.ToNearestEven)
	y, _, err2 := big.ParseFloat(b, 10, bits, big.ToNearestEven)
	if err1 != nil || err2 != nil || x.IsInf() || y.IsInf() {
		return 0, false
	}
	return x.Cmp(y), true
}

func notInWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }
