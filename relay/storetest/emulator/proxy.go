package emulator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"touchstone/relay/storetest/host"
	"touchstone/worktree/pause"
)

// Faults are what a proxy does to the requests it passes on.
type Faults struct {
	// Latency is added to each request.
	Latency time.Duration
	// DropBefore is the share of commits, 0 to 1, that are lost before they are executed.
	DropBefore float64
	// DropAfter is the share of commits that are executed and whose answer is lost.
	DropAfter float64
	// Hangup is the interval at which all listeners are disconnected; zero never disconnects them.
	Hangup time.Duration
}

// Proxy passes gRPC calls on to an emulator.
type Proxy struct {
	// Address is HOST:PORT, the value for FIRESTORE_EMULATOR_HOST.
	Address string

	server *grpc.Server
	target *grpc.ClientConn
	served chan error

	mu     sync.Mutex
	faults Faults
	random *rand.Rand
	hangup chan struct{}
	stop   chan struct{}
	wait   sync.WaitGroup
}

// NewProxy starts a proxy in front of the emulator at target, on the address listen or, if that is empty, on
// a free loopback port. The seed decides which requests fail.
func NewProxy(listen, target string, faults Faults, seed uint64) (*Proxy, error) {
	listener, err := net.Listen("tcp", cmp.Or(listen, net.JoinHostPort(host.Own(), "0")))
	if err != nil {
		return nil, fmt.Errorf("start proxy: %w", err)
	}
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(raw{}), grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start proxy: %w", err), listener.Close())
	}
	p := &Proxy{
		Address: listener.Addr().String(), target: conn, served: make(chan error, 1), faults: faults,
		random: rand.New(rand.NewPCG(seed, seed)), hangup: make(chan struct{}), stop: make(chan struct{}),
	}
	p.server = grpc.NewServer(grpc.ForceServerCodec(raw{}), grpc.UnknownServiceHandler(p.pass),
		grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage))
	go func() { p.served <- p.server.Serve(listener) }()
	if faults.Hangup > 0 {
		p.wait.Go(p.hangUp)
	}
	return p, nil
}

// maxMessage is above any message that Firestore accepts.
const maxMessage = 32 << 20

// Stop ends the proxy and all connections through it.
func (p *Proxy) Stop() error {
	close(p.stop)
	p.wait.Wait()
	p.server.Stop()
	return errors.Join(<-p.served, p.target.Close())
}

// Calm ends all faults from now on.
func (p *Proxy) Calm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = Faults{}
}

// hangUp disconnects the listeners at regular intervals.
func (p *Proxy) hangUp() {
	ticker := time.NewTicker(p.faults.Hangup)
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-ticker.C:
		}
		p.mu.Lock()
		if p.faults.Hangup > 0 {
			close(p.hangup)
			p.hangup = make(chan struct{})
		}
		p.mu.Unlock()
	}
}

// fate is what happens to one request.
type fate struct {
	latency          time.Duration
	lost, answerLost bool
	hangup           <-chan struct{}
}

func (p *Proxy) decide(method string) fate {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := fate{latency: p.faults.Latency}
	switch {
	case strings.HasSuffix(method, "/Commit"):
		dice := p.random.Float64()
		f.lost = dice < p.faults.DropBefore
		f.answerLost = !f.lost && dice < p.faults.DropBefore+p.faults.DropAfter
	case strings.HasSuffix(method, "/Listen"):
		f.hangup = p.hangup
	}
	return f
}

var errLost = status.Error(codes.Unavailable, "the connection was lost")

// pass carries one call, in both directions, without decoding the messages.
func (p *Proxy) pass(_ any, from grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(from)
	f := p.decide(method)
	if f.lost {
		return errLost
	}
	header, _ := metadata.FromIncomingContext(from.Context())
	ctx, cancel := context.WithCancel(metadata.NewOutgoingContext(from.Context(), header))
	defer cancel()
	to, err := p.target.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	if err != nil {
		return err
	}
	ends := make(chan error, 2)
	go func() { ends <- requests(from, to, f) }()
	go func() { ends <- answers(from, to, f) }()
	for {
		select {
		case <-f.hangup:
			return errLost
		case err := <-ends:
			if !errors.Is(err, errSent) {
				return err
			}
		}
	}
}

// errSent says that all requests have been passed on.
var errSent = errors.New("all sent")

func requests(from grpc.ServerStream, to grpc.ClientStream, f fate) error {
	for {
		var message []byte
		err := from.RecvMsg(&message)
		if errors.Is(err, io.EOF) {
			return errors.Join(errSent, to.CloseSend())
		}
		if err != nil {
			return err
		}
		if !pause.For(from.Context(), f.latency) {
			return from.Context().Err()
		}
		if err := to.SendMsg(&message); err != nil {
			return errSent // the answers say why
		}
	}
}

func answers(from grpc.ServerStream, to grpc.ClientStream, f fate) error {
	for {
		var message []byte
		err := to.RecvMsg(&message)
		if f.answerLost {
			return errLost
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := from.SendMsg(&message); err != nil {
			return err
		}
	}
}

// raw is a codec that leaves messages unchanged.
type raw struct{}

func (raw) Marshal(v any) ([]byte, error) {
	message, ok := v.(*[]byte)
	if !ok {
		return nil, fmt.Errorf("pass on %T", v)
	}
	return *message, nil
}

func (raw) Unmarshal(data []byte, v any) error {
	message, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("pass on %T", v)
	}
	*message = data
	return nil
}

func (raw) Name() string { return "proto" }
