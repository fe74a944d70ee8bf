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
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// encryptedAttacks are attempts by HTTP/2, where one connection has many requests.
var encryptedAttacks = []attack{
	{"streams that announce bodies keep webhooks out", streams(0)},
	{"streams with unfinished bodies keep webhooks out", streams(16 << 10)},
}

// Bounds of a crowd by HTTP/2: 8 × 60 × 100 requests under way at once.
const (
	encryptedEach = 60
	streamsEach   = 100
)

// certify makes a certificate for the loopback address in two files, and what believes it.
func certify(folder string) (*x509.CertPool, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	err = errors.Join(
		os.WriteFile(filepath.Join(folder, "cert.pem"), certificate, 0o600),
		os.WriteFile(filepath.Join(folder, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600),
	)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificate)
	return pool, err
}

// streams opens many requests on few connections, each with an announced body of 64 KiB of which
// sent bytes come.
func streams(sent int) func(context.Context, string) (string, error) {
	return func(ctx context.Context, bin string) (string, error) {
		folder, err := os.MkdirTemp("", "break")
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(folder)
		believed, err := certify(folder)
		if err != nil {
			return "", err
		}
		v, err := startOn(ctx, bin, folder, "--tls-cert", filepath.Join(folder, "cert.pem"), "--tls-key", filepath.Join(folder, "key.pem"))
		if err != nil {
			return "", err
		}
		defer v.stop()
		for i := range crowdAddresses * encryptedEach {
			conn, err := tls.DialWithDialer(
				&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(i%crowdAddresses+1))}}, "tcp", v.address,
				&tls.Config{RootCAs: believed, NextProtos: []string{"h2"}},
			)
			if err != nil {
				return "", err
			}
			defer conn.Close()
			_ = begin(conn, sent) // the relay may have closed it
		}
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: believed}, ForceAttemptHTTP2: true}}
		defer client.CloseIdleConnections()
		request, err := v.request(ctx, "wanted", `{"text":"`+strings.Repeat("x", 20_000)+`"}`)
		if err != nil {
			return "", err
		}
		request.URL.Scheme = "https"
		began := time.Now()
		response, err := client.Do(request)
		if err != nil {
			return fmt.Sprintf("a webhook was answered %v", err), nil
		}
		defer response.Body.Close()
		took := time.Since(began)
		switch memory := peak(v.command.Process.Pid); {
		case response.StatusCode != http.StatusAccepted || response.ProtoMajor != 2:
			return fmt.Sprintf("a webhook was answered %s by %s", response.Status, response.Proto), nil
		case took > maxWait:
			return fmt.Sprintf("a webhook took %s", took), nil
		case memory > maxMemory:
			return fmt.Sprintf("the relay took %d MB", memory>>20), nil
		}
		return "", nil
	}
}

// begin opens requests on a connection, and leaves them there.
func begin(conn net.Conn, sent int) error {
	var out, head bytes.Buffer
	out.WriteString(http2.ClientPreface)
	frames, fields := http2.NewFramer(&out, nil), hpack.NewEncoder(&head)
	err := frames.WriteSettings()
	for i := range streamsEach {
		head.Reset()
		for _, field := range [][2]string{
			{":method", "POST"}, {":scheme", "https"}, {":authority", "relay"}, {":path", "/webhooks/github"},
			{"content-length", strconv.Itoa(64 << 10)},
		} {
			err = errors.Join(err, fields.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}))
		}
		id := uint32(2*i + 1)
		err = errors.Join(err, frames.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: head.Bytes(), EndHeaders: true}))
		if sent > 0 && i < 60<<10/sent { // as much as one connection may send unasked
			err = errors.Join(err, frames.WriteData(id, false, make([]byte, sent)))
		}
	}
	if err != nil {
		return err
	}
	_, err = conn.Write(out.Bytes())
	return err
}
