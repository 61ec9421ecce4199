package event_test

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/event"
)

type plain struct {
	Text    string  `json:"text"`
	Short   string  `json:"short,omitempty"`
	Count   int     `json:"count"`
	Wait    int64   `json:"wait,omitempty"`
	Share   float64 `json:"share,omitempty"`
	Done    bool    `json:"done"`
	Ignored string  `json:"-"`
	// List goes through JSON unless it is empty.
	List []string `json:"list,omitempty"`
}

func (plain) Event() (event.Kind, string) { return event.State, "plain" }

// listed has the fields of plain and one that is encoded by a method, for which its events go through JSON.
type listed struct {
	Text  string    `json:"text"`
	Short string    `json:"short,omitempty"`
	Count int       `json:"count"`
	Wait  int64     `json:"wait,omitempty"`
	Share float64   `json:"share,omitempty"`
	Done  bool      `json:"done"`
	List  []string  `json:"list,omitempty"`
	At    time.Time `json:"at,omitzero"`
}

func (listed) Event() (event.Kind, string) { return event.State, "plain" }

func (l listed) plain() plain {
	return plain{Text: l.Text, Short: l.Short, Count: l.Count, Wait: l.Wait, Share: l.Share, Done: l.Done, List: l.List}
}

// anyText is sometimes not UTF-8.
var anyText = rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.Rune(), 0, 3, -1), rapid.Just("\xff\xfe"), rapid.Just(""))

var anyNumber = rapid.OneOf(rapid.Float64(), rapid.Map(rapid.IntRange(-3, 3), func(n int) float64 { return float64(n) }), rapid.Just(1e21))

func TestEventsOfPlainPayloadsAreThoseOfJSON(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l := listed{
			Text: anyText.Draw(r, "text"), Short: anyText.Draw(r, "short"), Count: rapid.Int().Draw(r, "count"),
			Wait: rapid.Int64().Draw(r, "wait"), Share: anyNumber.Draw(r, "share"), Done: rapid.Bool().Draw(r, "done"),
			List: rapid.SliceOfN(anyText, 0, 1).Draw(r, "list"),
		}
		fast, viaJSON := event.New(1, "why", l.plain()), event.New(1, "why", l)
		if !equal(fast.Attrs, viaJSON.Attrs) {
			r.Fatalf("got %#v; want %#v", fast.Attrs, viaJSON.Attrs)
		}
	})
}

func equal(a, b map[string]any) bool {
	for name, value := range a {
		if other, ok := b[name]; !ok || !reflect.DeepEqual(other, value) {
			return false
		}
	}
	return len(a) == len(b)
}

func TestPlainPayloadsAreReadLikeJSON(t *testing.T) {
	values := rapid.OneOf(
		rapid.Map(anyText, func(s string) any { return s }), rapid.Map(anyNumber, func(n float64) any { return n }),
		rapid.Map(rapid.Int(), func(n int) any { return n }), rapid.Map(rapid.Bool(), func(b bool) any { return b }), rapid.Just(any(nil)),
		rapid.Just(any([]any{"a"})),
	)
	names := rapid.SampledFrom([]string{"text", "short", "count", "wait", "share", "done", "Text", "COUNT", "list", "other", "Ignored"})
	rapid.Check(t, func(r *rapid.T) {
		e := event.Event{Kind: event.State, Name: "plain", Attrs: rapid.MapOfN(names, values, 0, 3).Draw(r, "attrs")}
		fast, ok := event.Read[plain](&e)
		viaJSON, want := event.Read[listed](&e)
		if ok != want || ok && !reflect.DeepEqual(fast, viaJSON.plain()) {
			r.Fatalf("got %+v, %t of %v; want %+v, %t", fast, ok, e.Attrs, viaJSON, want)
		}
	})
}
