package console

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// echo is the interval in which two signals count as one: timeout(1) sends a signal to the program and
// to its group.
const echo = time.Millisecond

// Interruptible returns a context that ends with the first signal to terminate: Ctrl-C, kill, or a closed
// terminal unless nohup ignores it. The second signal calls leave, which exits immediately.
func Interruptible(now func() time.Time, leave func()) (context.Context, context.CancelFunc) {
	ctx, interrupt := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, endSignals()...)
	over := make(chan struct{})
	go func() {
		var first time.Time
		for {
			select {
			case <-over:
				return
			case s := <-signals:
				if first.IsZero() {
					first = now()
					interrupt(fmt.Errorf("the signal %q came", s))
				} else if now().Sub(first) > echo {
					leave()
				}
			}
		}
	}()
	return ctx, func() { signal.Stop(signals); close(over); interrupt(nil) }
}

func endSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
