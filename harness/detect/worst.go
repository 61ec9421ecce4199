package detect

import (
	"container/heap"
	"slices"
)

// worst stores the first limit values in the order of compare, independently of the order in which
// they are added.
type worst[T any] struct {
	limit   int
	compare func(a, b T) int
	list    []T // a heap; its root is the last of the stored items
}

// wants reports whether a value would be stored, which saves building it in full.
func (w *worst[T]) wants(v T) bool {
	return len(w.list) < w.limit || w.limit > 0 && w.compare(v, w.list[0]) < 0
}

func (w *worst[T]) add(v T) {
	switch {
	case !w.wants(v):
	case len(w.list) < w.limit:
		heap.Push(w, v)
	default:
		w.list[0] = v
		heap.Fix(w, 0)
	}
}

// sorted returns the stored values; never nil.
func (w *worst[T]) sorted() []T {
	list := append([]T{}, w.list...)
	slices.SortStableFunc(list, w.compare)
	return list
}

// The methods of heap.Interface.

func (w *worst[T]) Len() int           { return len(w.list) }
func (w *worst[T]) Less(i, j int) bool { return w.compare(w.list[i], w.list[j]) > 0 }
func (w *worst[T]) Swap(i, j int)      { w.list[i], w.list[j] = w.list[j], w.list[i] }
func (w *worst[T]) Push(v any)         { w.list = append(w.list, v.(T)) }

// Pop is never called: the heap only grows to its limit.
func (w *worst[T]) Pop() any {
	last := len(w.list) - 1
	v := w.list[last]
	w.list = w.list[:last]
	return v
}
