package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"touchstone/worktree/steps"
)

// encryptedAttacks are attempts over HTTP/2, where one connection carries many requests.
var encryptedAttacks = []attack{
	{"streams that announce bodies keep webhooks out", streams(func(p *peer) error { return p.announce(streamsEach, 0) })},
	{"streams with unfinished bodies keep webhooks out", streams(func(p *peer) error { return p.announce(8, 13000) })},
	{"streams that let no answer through keep webhooks out", streams((*peer).withhold)},
	{"streams that are reset at once keep webhooks out", streams((*peer).rapid)},
	{"an unfinished head of a stream keeps webhooks out", streams((*peer).unfinished)},
	{"silent encrypted connections keep webhooks out", streams(func(*peer) error { return nil })},
}

// Sizes of a crowd over HTTP/2: enough connections for 8 × 60 × 100 concurrent requests, or ten times as many
// reset ones.
const (
	encryptedEach = 60
	streamsEach   = 100
	resetsEach    = 1000
)

// certify creates a certificate for the loopback address in two files, and a pool that trusts it.
func certify(folder string) *x509.CertPool {
	key := steps.Got(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der := steps.Got(x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key))
	private := steps.Got(x509.MarshalPKCS8PrivateKey(key))
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	steps.Must(os.WriteFile(filepath.Join(folder, "cert.pem"), certificate, 0o600))
	steps.Must(os.WriteFile(filepath.Join(folder, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificate)
	return pool
}

// streams opens many connections and has those that the relay leaves open send something, and then nothing
// more. They send at the same time: the relay gives up waiting after seconds, and opening so many connections
// can take a busy machine as long.
func streams(say func(*peer) error) func(context.Context, string) string {
	return func(ctx context.Context, bin string) string {
		folder := steps.Got(os.MkdirTemp("", "break"))
		defer os.RemoveAll(folder)
		believed := certify(folder)
		v := startOn(ctx, bin, folder, "--tls-cert", filepath.Join(folder, "cert.pem"), "--tls-key", filepath.Join(folder, "key.pem"))
		defer v.stop()
		var peers []*peer
		for i := range crowdAddresses * encryptedEach {
			conn, err := tls.DialWithDialer(
				&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(i%crowdAddresses+1))}}, "tcp", v.address,
				&tls.Config{RootCAs: believed, NextProtos: []string{"h2"}},
			)
			if err != nil {
				continue
			}
			defer conn.Close()
			if p, err := newPeer(conn); err == nil {
				peers = append(peers, p)
			}
		}
		for _, p := range peers {
			steps.Must(say(p))
			_ = p.send()
		}
		client := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: believed}, ForceAttemptHTTP2: true}
		defer client.CloseIdleConnections()
		webhook := v.wanted(ctx)
		webhook.URL.Scheme = "https"
		return v.keptOut(client, webhook, 2)
	}
}

// peer is one end of an HTTP/2 connection.
type peer struct {
	conn   net.Conn
	out    bytes.Buffer
	frames *http2.Framer
	head   bytes.Buffer
	fields *hpack.Encoder
}

// newPeer sends the beginning of a connection.
func newPeer(conn net.Conn) (*peer, error) {
	p := &peer{conn: conn}
	p.out.WriteString(http2.ClientPreface)
	p.frames, p.fields = http2.NewFramer(&p.out, nil), hpack.NewEncoder(&p.head)
	return p, errors.Join(p.frames.WriteSettings(), p.send())
}

// send sends the buffered frames.
func (p *peer) send() error {
	_, err := p.out.WriteTo(p.conn)
	return err
}

// open begins the nth request of the connection.
func (p *peer) open(n int, method, path string, end bool, more ...hpack.HeaderField) (id uint32, err error) {
	p.head.Reset()
	for _, field := range append([]hpack.HeaderField{{Name: ":method", Value: method}, {Name: ":scheme", Value: "https"},
		{Name: ":authority", Value: "relay"}, {Name: ":path", Value: path}}, more...) {
		err = errors.Join(err, p.fields.WriteField(field))
	}
	id = uint32(2*n + 1)
	return id, errors.Join(err, p.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: p.head.Bytes(), EndHeaders: true,
		EndStream: end}))
}

// announce opens webhooks with an announced body of 64 KiB, and sends only the given number of bytes of each.
func (p *peer) announce(webhooks, sent int) (err error) {
	for i := range webhooks {
		id, openErr := p.open(i, http.MethodPost, "/webhooks/github", false, hpack.HeaderField{Name: "content-length", Value: "65536"})
		err = errors.Join(err, openErr)
		if sent > 0 && (i+1)*sent < 64<<10 { // as much as one connection may send unasked; the other requests take the remaining room
			err = errors.Join(err, p.frames.WriteData(id, false, make([]byte, sent)))
		}
	}
	return err
}

// withhold requests pages and lets no byte of an answer's body through.
func (p *peer) withhold() error {
	err := p.frames.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	for i := range streamsEach {
		_, openErr := p.open(i, http.MethodGet, "/readyz", true)
		err = errors.Join(err, openErr)
	}
	return err
}

// rapid opens requests and cancels them immediately, which the limit on streams does not cover
// (https://nvd.nist.gov/vuln/detail/CVE-2023-44487).
func (p *peer) rapid() (err error) {
	for i := range resetsEach {
		id, openErr := p.open(i, http.MethodGet, "/readyz", true)
		err = errors.Join(err, openErr, p.frames.WriteRSTStream(id, http2.ErrCodeCancel))
	}
	return err
}

// unfinished begins a request with an endless head.
func (p *peer) unfinished() error {
	p.head.Reset()
	err := errors.Join(p.fields.WriteField(hpack.HeaderField{Name: ":method", Value: http.MethodPost}),
		p.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: p.head.Bytes()}))
	for range 20 {
		p.head.Reset()
		err = errors.Join(err, p.fields.WriteField(hpack.HeaderField{Name: "x-long", Value: strings.Repeat("~", 15<<10), Sensitive: true}),
			p.frames.WriteContinuation(1, false, p.head.Bytes()))
	}
	return err
}
