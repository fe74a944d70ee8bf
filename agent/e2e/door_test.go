package e2e

import (
	"net"
	"sync"
)

// door is the address of a relay. It stays the test's own while no relay is there, when the
// system would give its port to others; a connection is closed then.
type door struct {
	net.Listener

	mu   sync.Mutex
	room *room // where those who call are let in
}

// room is what a relay listens to for as long as it is there.
type room struct {
	net.Listener
	callers chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

// keep lets callers in until the door's listener is closed.
func (d *door) keep() {
	for {
		caller, err := d.Accept()
		if err != nil {
			return
		}
		d.mu.Lock()
		inside := d.room
		d.mu.Unlock()
		if inside == nil || !inside.take(caller) {
			_ = caller.Close()
		}
	}
}

// open gives the next relay a listener. Closing that leaves the door shut.
func (d *door) open() net.Listener {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room = &room{Listener: d.Listener, callers: make(chan net.Conn), closed: make(chan struct{})}
	return d.room
}

func (r *room) take(caller net.Conn) bool {
	select {
	case r.callers <- caller:
		return true
	case <-r.closed:
		return false
	}
}

// Accept waits for the next caller.
func (r *room) Accept() (net.Conn, error) {
	select {
	case caller := <-r.callers:
		return caller, nil
	case <-r.closed:
		return nil, net.ErrClosed
	}
}

// Close keeps callers out.
func (r *room) Close() error {
	r.once.Do(func() { close(r.closed) })
	return nil
}
