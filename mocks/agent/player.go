package agent

import (
	"context"
	"encoding/json"
	"errors"
	"net"

	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// errGone is the error for an order to a child that has exited.
var errGone = errors.New("the scripted agent is gone")

// child is the parent's end of one connection.
type child struct {
	conn  net.Conn
	out   *json.Encoder
	words chan word       // closed when the child exits
	alive context.Context // ends when the child exits or the server is closed
}

// serve answers one invocation. It returns when the child has exited.
func (s *Server) serve(conn net.Conn) {
	alive, gone := context.WithCancel(s.ctx)
	defer gone()
	// Close the connection here too, because an AfterFunc that is stopped may not run.
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(alive, func() { _ = conn.Close() })()
	in := json.NewDecoder(conn)
	var h hello
	if err := in.Decode(&h); err != nil || h.Token != s.token {
		return
	}
	c := &child{conn: conn, out: json.NewEncoder(conn), words: make(chan word, 4), alive: alive}
	s.playing.Go(func() {
		defer gone()
		defer close(c.words)
		for {
			var w word
			if err := in.Decode(&w); err != nil {
				return
			}
			select {
			case c.words <- w:
			case <-alive.Done():
				return
			}
		}
	})
	if h.Style != grandchildStyle {
		s.play(c, h)
	}
	<-alive.Done()
}

// play sends the answer of the engine to the child.
func (s *Server) play(c *child, h hello) {
	st, err := findStyle(h.Style)
	if err != nil {
		return
	}
	body, err := json.Marshal(h)
	if err != nil {
		return
	}
	x := s.engine.Begin(c.alive, codec{style: st, price: s.cfg.Price, args: h.Args}, nil, body)
	defer x.End()
	frames := x.Frames()
	for i := range frames {
		if s.cfg.Clock.Sleep(c.alive, x.Delay(i)) != nil || !c.play(x, i) {
			return
		}
	}
	c.finish(frames[len(frames)-1])
}

// play sends frame i. It reports whether the next one may follow.
func (c *child) play(x *mocks.Exchange, i int) bool {
	o := orderOf(x.Frames()[i])
	if o.Op == opSigterm {
		// The fault fires when the child has survived a SIGTERM.
		if !c.obey(o) || !c.receives(wordSigterm) {
			return false
		}
		o = order{}
	}
	return x.Send(i, func() error {
		if o.Op != "" && !c.obey(o) {
			return errGone
		}
		return nil
	}) == nil
}

// finish ends the process as the last frame requires.
func (c *child) finish(last wire.Frame) {
	switch last.End {
	case wire.Hang:
		<-c.alive.Done()
	case wire.Reset:
		c.obey(order{Op: opKill})
	default:
		c.obey(order{Op: opExit})
	}
}

// obey sends an order and waits until the child has executed it.
func (c *child) obey(o order) bool { return c.out.Encode(o) == nil && c.receives(wordDone) }

func (c *child) receives(want word) bool { return <-c.words == want }
