package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	lifetime = 2 * time.Minute
	maxStdin = 64 << 20
	// Exit statuses of a child that could not be an agent.
	exitUnusable = 96
	exitOrphaned = 97
)

// Main runs the scripted agent, and does not return, if this process was started as one. Otherwise it
// does nothing. Call it first in main or TestMain.
func Main() {
	setting := os.Getenv(envAgent) //nolint:forbidigo // the entry point of the agent's process
	if setting == "" {
		return
	}
	// A bug must not leave a process behind.
	time.AfterFunc(lifetime, func() { os.Exit(exitOrphaned) }) //nolint:forbidigo // bounds a real process
	fields := strings.SplitN(setting, "|", 4)
	if len(fields) != 4 {
		quit("%s must have the form style|network|address|token", envAgent)
	}
	conn, err := net.Dial(fields[1], fields[2])
	if err != nil {
		quit("reach the script: %v", err)
	}
	p := &puppet{out: json.NewEncoder(conn), setting: fields}
	orders := p.listen(conn)
	h := hello{Token: fields[3], Style: fields[0], Args: os.Args[1:]}
	if h.Style != grandchildStyle {
		// Like the real programs, this blocks if the caller does not close standard input.
		stdin, err := io.ReadAll(io.LimitReader(os.Stdin, maxStdin))
		if err != nil {
			quit("read standard input: %v", err)
		}
		h.Stdin = string(stdin)
	}
	p.send(h)
	for o := range orders {
		p.carryOut(o)
	}
}

func quit(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "scripted agent: "+format+"\n", args...)
	os.Exit(exitUnusable)
}

// puppet executes its parent's orders.
type puppet struct {
	mu      sync.Mutex
	out     *json.Encoder
	setting []string
}

// listen returns the parent's orders. The process exits when the connection ends.
func (p *puppet) listen(conn net.Conn) <-chan order {
	orders := make(chan order)
	go func() {
		in := json.NewDecoder(conn)
		for {
			var o order
			if err := in.Decode(&o); err != nil {
				os.Exit(exitOrphaned)
			}
			orders <- o
		}
	}()
	return orders
}

func (p *puppet) send(message any) {
	p.mu.Lock()
	err := p.out.Encode(message)
	p.mu.Unlock()
	if err != nil {
		os.Exit(exitOrphaned)
	}
}

func (p *puppet) carryOut(o order) {
	switch o.Op {
	case opStdout:
		p.write(os.Stdout, o.Data)
	case opStderr:
		p.write(os.Stderr, o.Data)
	case opExit:
		p.send(wordDone)
		os.Exit(o.Status)
	case opKill:
		p.send(wordDone)
		crash()
	case opSigterm:
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		p.send(wordDone)
		go func() {
			for range signals {
				p.send(wordSigterm)
			}
		}()
	case opGrandchild:
		p.startGrandchild()
	case opFlood:
		p.flood(o.Data)
	}
}

// write acknowledges data that was written. As with the real programs, a closed pipe ends the process
// by SIGPIPE.
func (p *puppet) write(f *os.File, data []byte) {
	if _, err := f.Write(data); err != nil {
		os.Exit(1)
	}
	p.send(wordDone)
}

// startGrandchild starts a process that keeps the outputs open.
func (p *puppet) startGrandchild() {
	path, err := os.Executable()
	if err != nil {
		quit("find the grandchild's program: %v", err)
	}
	cmd := exec.Command(path)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(cmd.Environ(), envAgent+"="+strings.Join(append([]string{grandchildStyle}, p.setting[1:]...), "|"))
	if err := cmd.Start(); err != nil {
		quit("start the grandchild: %v", err)
	}
	p.send(wordDone)
}

// flood repeats line until the reader closes the pipe. It acknowledges the first 64 KiB.
func (p *puppet) flood(line []byte) {
	chunk := bytes.Repeat(line, max(1, 64<<10/len(line)))
	for first := true; ; first = false {
		if _, err := os.Stdout.Write(chunk); err != nil {
			os.Exit(1)
		}
		if first {
			p.send(wordDone)
		}
	}
}

// crash kills the process.
func crash() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {} // the signal is on its way
}
