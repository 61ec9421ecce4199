package state

import (
	"cmp"
	"container/heap"
	"strconv"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
)

// Stage is the stage of a task.
type Stage string

const (
	stageWaiting   Stage = "waiting"
	stageDone      Stage = "done"
	stageFailed    Stage = "failed"  // the retries are used up
	stageBlocked   Stage = "blocked" // a retry cannot succeed
	stageEscalated Stage = "escalated"
	// stageDropped is a derived task whose check passed before the task began.
	stageDropped Stage = "dropped"
	// stageSkipped is a task that the plan skips.
	stageSkipped Stage = "skipped"
)

// over reports whether the task has ended for good.
func (s Stage) over() bool { return s == stageDone || s == stageDropped || s == stageSkipped }

// Task is a task of the plan or a derived one.
type Task struct {
	plan.Task
	// From is the check that the task was derived from; empty for a task of the plan.
	From  plan.Check
	Stage Stage
	// Attempts is the number of started attempts.
	Attempts int
	// Details and Carry are from the last attempt; empty if the task is over.
	Details, Carry string
	// Accepted is the verdict of the acceptance commands on the last attempt; empty if none ran.
	Accepted plan.Verdict
	// Session is the session that the next attempt, or a task derived from the answer, can continue, or nil.
	Session *Session
	// Answers are the answers of persons, the newest last; empty if the task is over.
	Answers []Answer
	// Used is the usage of all its attempts.
	Used Used
	// of and step are those of Derived.
	of, step string

	left  int // remaining attempts
	order int // position in the queue; negative in a round
	at    int // index in the heap of the queue, or none
	waits int // dependencies that are not done
	// next and prev link the tasks that are not over, in the order of their indices.
	next, prev int
}

// Over reports whether the task is done, dropped or skipped.
func (t Task) Over() bool { return t.Stage.over() }

// Waiting reports whether another attempt is possible.
func (t Task) Waiting() bool { return t.Stage == stageWaiting }

// Key identifies the last attempt at the task. An attempt that is repeated after a crash has
// the same key.
func (t Task) Key() string { return t.ID + "#" + strconv.Itoa(t.Attempts) }

const none = -1

// tasks indexes the tasks of a run, so that no operation iterates over all of them.
type tasks struct {
	all     []*Task
	byID    map[string]int
	needed  map[int][]int // the tasks that depend on each task
	ready   queue
	round   []int         // tasks of the round
	stages  map[Stage]int // number of tasks
	first   int           // of the tasks that are not over
	last    int
	planned int // number of tasks of the plan
	front   int // next position before the tasks of the plan
	back    int // next position after them
}

// frontmost is the position of the first task of a round. The tasks of the plan begin at 0.
const frontmost = -1 << 40

func newTasks(planned []plan.Task) *tasks {
	t := &tasks{
		all:    make([]*Task, 0, len(planned)),
		byID:   make(map[string]int, len(planned)),
		needed: map[int][]int{}, stages: map[Stage]int{},
		first: none, last: none, front: frontmost,
	}
	t.ready.tasks = t
	for _, task := range planned {
		t.add(Task{Task: task, order: t.back})
		t.back++
	}
	t.planned = len(planned)
	for i, task := range t.all {
		for _, id := range task.After {
			before := t.byID[id]
			t.needed[before] = append(t.needed[before], i)
		}
		if task.waits = len(task.After); task.waits == 0 {
			heap.Push(&t.ready, i)
		}
	}
	for i, task := range t.all {
		if task.Skip != "" {
			if task.at != none {
				heap.Remove(&t.ready, task.at)
			}
			t.move(i, stageSkipped)
		}
	}
	return t
}

// add appends a waiting task, without adding it to the queue.
func (t *tasks) add(task Task) int {
	i := len(t.all)
	task.Stage, task.left = stageWaiting, 1+task.MaxRetries()
	task.prev, task.next, task.at = t.last, none, none
	if t.last == none {
		t.first = i
	} else {
		t.all[t.last].next = i
	}
	t.last = i
	t.all = append(t.all, &task)
	t.byID[task.ID] = i
	t.stages[stageWaiting]++
	return i
}

func (t *tasks) move(i int, to Stage) {
	task := t.all[i]
	t.stages[task.Stage]--
	t.stages[to]++
	task.Stage = to
	if !to.over() {
		return
	}
	task.Details, task.Carry, task.Answers = "", "", nil
	if i >= t.planned {
		task.Do = clip(task.Do, maxItem) // bounds the memory of many rounds
	}
	t.unlink(task)
	if to == stageDropped {
		return
	}
	for _, j := range t.needed[i] {
		if next := t.all[j]; next.waits > 0 {
			if next.waits--; next.waits == 0 && next.Stage == stageWaiting {
				heap.Push(&t.ready, j)
			}
		}
	}
}

func (t *tasks) unlink(task *Task) {
	if task.prev == none {
		t.first = task.next
	} else {
		t.all[task.prev].next = task.next
	}
	if task.next == none {
		t.last = task.prev
	} else {
		t.all[task.next].prev = task.prev
	}
}

// requeue adds a waiting task to the queue, at its own position or as the last of the tasks of
// the round or of the plan.
func (t *tasks) requeue(i int, last bool) {
	task := t.all[i]
	switch {
	case last && task.order < 0:
		task.order = t.front
		t.front++
	case last:
		task.order = t.back
		t.back++
	}
	heap.Push(&t.ready, i)
}

// addToRound adds a task to the end of the round, before the tasks of the plan.
func (t *tasks) addToRound(i int) {
	t.all[i].order = t.front
	t.front++
	t.round = append(t.round, i)
	heap.Push(&t.ready, i)
}

// drop drops the waiting derived tasks of the round for which f returns true, and returns their
// number.
func (t *tasks) drop(f func(*Task) bool) int {
	n := 0
	for _, i := range t.round {
		if task := t.all[i]; task.at != none && i >= t.planned && f(task) {
			heap.Remove(&t.ready, task.at)
			t.move(i, stageDropped)
			n++
		}
	}
	return n
}

// open calls f with the tasks that are not over, in order, until f returns false.
func (t *tasks) open(f func(*Task) bool) {
	for i := t.first; i != none; i = t.all[i].next {
		if !f(t.all[i]) {
			return
		}
	}
}

// peek returns the next n tasks of the queue, or fewer, in their order.
func (t *tasks) peek(n int) []*Task {
	var taken []int
	for range min(n, t.ready.Len()) {
		taken = append(taken, heap.Pop(&t.ready).(int))
	}
	next := make([]*Task, len(taken))
	for k, i := range taken {
		next[k] = t.all[i]
		heap.Push(&t.ready, i)
	}
	return next
}

// queue implements heap.Interface with the indices of ready tasks.
type queue struct {
	tasks *tasks
	heap  []int
}

func (q *queue) Len() int { return len(q.heap) }

func (q *queue) Less(i, j int) bool {
	a, b := q.heap[i], q.heap[j]
	return cmp.Or(cmp.Compare(q.tasks.all[a].order, q.tasks.all[b].order), cmp.Compare(a, b)) < 0
}

func (q *queue) Swap(i, j int) {
	q.heap[i], q.heap[j] = q.heap[j], q.heap[i]
	q.tasks.all[q.heap[i]].at, q.tasks.all[q.heap[j]].at = i, j
}

func (q *queue) Push(x any) {
	q.tasks.all[x.(int)].at = len(q.heap)
	q.heap = append(q.heap, x.(int))
}

func (q *queue) Pop() any {
	i := q.heap[len(q.heap)-1]
	q.heap = q.heap[:len(q.heap)-1]
	q.tasks.all[i].at = none
	return i
}
