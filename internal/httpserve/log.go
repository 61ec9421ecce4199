package httpserve

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Lines writes whole lines from several goroutines.
type Lines struct {
	mu  sync.Mutex
	out io.Writer
}

// NewLines returns a writer of lines to out.
func NewLines(out io.Writer) *Lines { return &Lines{out: out} }

// Print writes a line.
func (l *Lines) Print(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = io.WriteString(l.out, line+"\n") // a log that cannot be written stops nobody
}

// Logged prints a line for each exchange.
func Logged(out io.Writer, next http.Handler) http.Handler {
	lines := NewLines(out)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &statusWriter{ResponseWriter: w}
		began := time.Now()
		defer func() {
			lines.Print(fmt.Sprintf("%s %s %s in %s", sanitize.Line(r.Method, 10), sanitize.Line(r.URL.Path, 60),
				seen, time.Since(began).Round(time.Millisecond)))
		}()
		next.ServeHTTP(seen, r)
	})
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
