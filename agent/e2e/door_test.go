package e2e

import (
	"net"
	"sync"
)

// door is the address of a relay. The test keeps the port while no relay runs, because the system could give it
// to another process; connections are closed during that time.
type door struct {
	net.Listener

	mu   sync.Mutex
	room *room // where those who call are let in
}

// room is a relay's listener, for as long as the relay runs.
type room struct {
	net.Listener
	callers chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

// keep accepts connections until the door's listener is closed.
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

// open gives the next relay a listener. After the listener is closed, the door is shut.
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

// Close refuses further connections.
func (r *room) Close() error {
	r.once.Do(func() { close(r.closed) })
	return nil
}
