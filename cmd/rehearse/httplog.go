package main

import (
	"io"
	"net/http"
	"strconv"
	"sync"
)

// lineWriter writes whole lines from several goroutines.
type lineWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func newLineWriter(out io.Writer) *lineWriter { return &lineWriter{out: out} }

func (l *lineWriter) print(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = io.WriteString(l.out, line+"\n") // nobody is there to be told
}

// statusWriter notes the status of a response.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *statusWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// String is the status, or that there was none because the connection was cut.
func (w *statusWriter) String() string {
	if w.status == 0 {
		return "cut off"
	}
	return strconv.Itoa(w.status)
}
