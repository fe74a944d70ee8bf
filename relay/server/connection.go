package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// connection is what one stream is written to.
type connection interface {
	// write sends all pieces, in order. It does not change them.
	write(ctx context.Context, pieces [][]byte) error
	// end closes the stream, cleanly if everything before was written.
	end()
	// cut makes a write that waits for the subscriber fail. It may be called at any time before end.
	cut()
}

// writeChunk is how many bytes a subscriber has to read within one WriteTimeout. Larger frames get that time
// for each chunk, so that a slow connection can carry them.
const writeChunk = 256 << 10

// chunked sends pieces in groups of at most writeChunk bytes.
func chunked(pieces [][]byte, send func(group [][]byte, size int) error) error {
	var group [][]byte
	size := 0
	for _, piece := range pieces {
		for chunk := range slices.Chunk(piece, writeChunk) {
			if size+len(chunk) > writeChunk {
				if err := send(group, size); err != nil {
					return err
				}
				group, size = group[:0], 0
			}
			group, size = append(group, chunk), size+len(chunk)
		}
	}
	if size == 0 {
		return nil
	}
	return send(group, size)
}

// allow gives the subscriber time to read the next write. It checks ctx last, so that it cannot undo the work
// of a goroutine that ends ctx and then shortens the time.
func allow(ctx context.Context, conn interface{ SetWriteDeadline(time.Time) error }, timeout time.Duration) error {
	if err := conn.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
		return fmt.Errorf("limit the time to write: %w", err)
	}
	return context.Cause(ctx)
}

// sharedConnection writes through net/http: to a stream of an HTTP/2 connection, which has other streams, or
// to an HTTP/1.0 client.
type sharedConnection struct {
	out     http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
}

func (c *sharedConnection) write(ctx context.Context, pieces [][]byte) error {
	return chunked(pieces, func(group [][]byte, _ int) error {
		if err := allow(ctx, c.control, c.timeout); err != nil {
			return err
		}
		for _, piece := range group {
			if _, err := c.out.Write(piece); err != nil {
				return fmt.Errorf("write to subscriber: %w", err)
			}
		}
		if err := c.control.Flush(); err != nil {
			return fmt.Errorf("write to subscriber: %w", err)
		}
		return nil
	})
}

func (c *sharedConnection) end() {} // net/http does it when the handler returns

func (c *sharedConnection) cut() { _ = c.control.SetWriteDeadline(time.Now()) } // if it fails, the connection is gone

// hijackedConnection is an HTTP/1.1 connection taken over from net/http, whose buffers would be most of an idle
// stream's memory, and would cost each event a copy and several system calls.
type hijackedConnection struct {
	conn    net.Conn
	timeout time.Duration
	gone    chan struct{} // closed when nothing reads from conn any more
}

// takeOver takes the request's connection from net/http, if that is possible.
func takeOver(w http.ResponseWriter, r *http.Request, timeout time.Duration) (*hijackedConnection, error) {
	if r.ProtoMajor != 1 || r.ProtoMinor != 1 {
		return nil, http.ErrNotSupported
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	if guest, ok := conn.(*guest); ok {
		conn = guest.Conn // which can write several pieces at once
	}
	return &hijackedConnection{conn: conn, timeout: timeout, gone: make(chan struct{})}, nil
}

// watch returns a context that ends when the subscriber hangs up.
func (c *hijackedConnection) watch(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer close(c.gone)
		defer cancel()
		// A subscriber sends nothing more, so this returns when it hangs up.
		_, _ = c.conn.Read(make([]byte, 1))
	}()
	return ctx
}

// head returns the response's head in HTTP/1.1.
func head(header http.Header) []byte {
	var head bytes.Buffer
	fmt.Fprintf(&head, "HTTP/1.1 200 OK\r\nConnection: close\r\nDate: %s\r\nTransfer-Encoding: chunked\r\n",
		time.Now().UTC().Format(http.TimeFormat))
	_ = header.Write(&head) // a Buffer takes everything
	head.WriteString("\r\n")
	return head.Bytes()
}

// small is the size up to which pieces are copied into one rather than passed on separately.
const small = 4 << 10

var smallBuffers = sync.Pool{New: func() any { return new([small + 16]byte) }}

func (c *hijackedConnection) write(ctx context.Context, pieces [][]byte) error {
	return chunked(pieces, func(group [][]byte, size int) error {
		if size > small {
			head := append(strconv.AppendInt(nil, int64(size), 16), "\r\n"...)
			buffers := append(make([][]byte, 0, len(group)+2), head)
			return c.send(ctx, append(append(buffers, group...), lineEnd)...)
		}
		buffer := smallBuffers.Get().(*[small + 16]byte)
		defer smallBuffers.Put(buffer)
		chunk := append(strconv.AppendInt(buffer[:0], int64(size), 16), "\r\n"...)
		for _, piece := range group {
			chunk = append(chunk, piece...)
		}
		return c.send(ctx, append(chunk, lineEnd...))
	})
}

var lineEnd = []byte("\r\n")

func (c *hijackedConnection) send(ctx context.Context, buffers ...[]byte) error {
	if err := allow(ctx, c.conn, c.timeout); err != nil {
		return err
	}
	if _, err := (*net.Buffers)(&buffers).WriteTo(c.conn); err != nil {
		return fmt.Errorf("write to subscriber: %w", err)
	}
	return nil
}

// end writes the last chunk. If it does not get through, nothing is lost.
func (c *hijackedConnection) end() {
	_ = c.conn.SetWriteDeadline(time.Now().Add(endTimeout))
	_, _ = io.WriteString(c.conn, "0\r\n\r\n")
	c.conn.Close()
	<-c.gone
}

// cut closes the connection beneath TLS, because closing a TLS connection waits for a subscriber that does
// not read.
func (c *hijackedConnection) cut() {
	conn := c.conn
	if encrypted, ok := conn.(*tls.Conn); ok {
		conn = encrypted.NetConn()
	}
	conn.Close()
}

// endTimeout is how long a subscriber may take to read the end of a stream.
const endTimeout = time.Second

// connections are all open connections. net/http forgets connections that were taken over.
type connections struct {
	mu    sync.Mutex
	open  map[connection]struct{}
	empty *sync.Cond
}

func newConnections() *connections {
	all := &connections{open: map[connection]struct{}{}}
	all.empty = sync.NewCond(&all.mu)
	return all
}

// serve adds the request's connection and runs stream over it, with a context that ends when the subscriber
// hangs up. It serves a connection that can be taken over in a separate goroutine and returns, so that
// net/http frees all that it has for the connection, including its buffers and a goroutine's grown stack. It answers
// a HEAD request with the stream's headers alone.
func (all *connections) serve(w http.ResponseWriter, r *http.Request, timeout time.Duration, stream func(context.Context, connection)) {
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-cache")
	header.Set("X-Accel-Buffering", "no")
	if r.Method == http.MethodHead {
		return
	}
	welcome(r.Context())
	// Hold the lock, so that drain sees each connection that net/http does not.
	all.mu.Lock()
	own, err := takeOver(w, r, timeout)
	var c connection = own
	if err != nil {
		c = &sharedConnection{out: w, control: http.NewResponseController(w), timeout: timeout}
	}
	all.open[c] = struct{}{}
	all.mu.Unlock()
	if err != nil {
		defer all.giveBack(c)
		stream(r.Context(), c)
		return
	}
	ctx, head := context.WithoutCancel(r.Context()), head(header)
	go func() {
		defer all.giveBack(own)
		// As in net/http's handlers, a panic of one stream must not end the others.
		defer func() {
			if fault := recover(); fault != nil {
				zerolog.Ctx(ctx).Error().Interface("panic", fault).Bytes("stack", debug.Stack()).Msg("a stream failed")
			}
		}()
		ctx := own.watch(ctx)
		if err := own.send(ctx, head); err == nil {
			stream(ctx, own)
		}
	}()
}

// giveBack ends a connection and removes it.
func (all *connections) giveBack(c connection) {
	c.end()
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.open, c)
	all.empty.Broadcast()
}

// cut makes all writes fail that wait for subscribers.
func (all *connections) cut() {
	all.mu.Lock()
	defer all.mu.Unlock()
	for c := range all.open {
		c.cut()
	}
}

// drain waits until no connection is open.
func (all *connections) drain() {
	all.mu.Lock()
	defer all.mu.Unlock()
	for len(all.open) > 0 {
		all.empty.Wait()
	}
}
