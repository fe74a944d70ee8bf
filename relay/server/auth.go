package server

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"touchstone/relay/token"
)

// ErrUnprotected is wrapped by New's error about an address that other machines could read from while the
// relay has no access tokens.
var ErrUnprotected = errors.New("it has no access tokens, so anyone could read the events there; create one with touchstone-relay token " +
	"create, or listen on a loopback address such as 127.0.0.1:8080")

// checkAddress refuses an address that other machines can reach if reading takes no token.
func checkAddress(address net.Addr, tokens *token.Checker) error {
	if tcp, ok := address.(*net.TCPAddr); tokens.Required() || ok && tcp.IP.IsLoopback() {
		return nil
	}
	return fmt.Errorf("the relay cannot listen on %s: %w", address, ErrUnprotected)
}

// readers passes requests that may read events to next, with their grant. A handler that goes on reading,
// such as a stream, uses the grant's context.
func (s *Server) readers(next func(w http.ResponseWriter, r *http.Request, grant *token.Grant)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		grant, ok := s.admit(w, r, s.refuseToken)
		if !ok {
			return
		}
		if grant.ID != "" {
			ctx := r.Context()
			r = r.WithContext(zerolog.Ctx(ctx).With().Str("token", grant.ID).Logger().WithContext(ctx))
		}
		next(w, r, grant)
	}
}

// operators passes the requests of the relay's operators to next: those with an administrator's token, or
// directly from this machine.
func (s *Server) operators(next http.HandlerFunc) http.HandlerFunc {
	admins := s.admins(func(w http.ResponseWriter, r *http.Request, _ *token.Grant) { next(w, r) })
	return func(w http.ResponseWriter, r *http.Request) {
		if direct(r) {
			next(w, r)
			return
		}
		admins(w, r)
	}
}

// admins passes requests with an administrator's token to next. A relay without tokens has no administrators:
// every program on its machine can reach its loopback address, including a model's session in a sandbox.
func (s *Server) admins(next func(w http.ResponseWriter, r *http.Request, grant *token.Grant)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		grant, ok := s.admit(w, r, s.refuseToken)
		if !ok {
			return
		}
		if grant.ID == "" {
			refuse(w, http.StatusForbidden, "this needs an administrator's access token, and the relay has none; create it with touchstone-relay "+
				"token create --name ops --role admin")
			return
		}
		if grant.Role != token.Admin {
			refuse(w, http.StatusForbidden, "this needs an access token with the role admin")
			return
		}
		zerolog.Ctx(r.Context()).Info().Str("token", grant.ID).Str("name", grant.Name).
			Str("method", r.Method).Str("path", r.URL.Path).Msg("admin request")
		next(w, r, grant)
	}
}

// admit returns the grant of a request. Otherwise it answers the request itself, and has stranger answer it if its token is
// missing or not valid.
func (s *Server) admit(w http.ResponseWriter, r *http.Request, stranger http.HandlerFunc) (*token.Grant, bool) {
	grant, ok := s.config.Tokens.Check(s.credential(r))
	switch {
	case !ok:
		stranger(w, r)
	case grant.ID == "" && !local(r.Host):
		refuse(w, http.StatusForbidden, onlyLocal)
		ok = false
	}
	return grant, ok
}

// refuseToken answers a program.
func (s *Server) refuseToken(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	s.refuseStranger(w, r, "the access token is missing or not valid; send one that touchstone-relay token create printed, as "+
		"Authorization: Bearer rly_…")
}

// bearer returns the token in the Authorization header (RFC 6750, section 2.1).
func bearer(header http.Header) string {
	scheme, text, _ := strings.Cut(header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(text)
}

// local reports whether a Host header names this machine. A web page can make its own name resolve to a
// loopback address and then read what is served there, but it cannot make the browser send another name.
func local(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && ip.IsLoopback()
}

// direct reports whether a request comes from this machine, without a proxy and not from a web page of
// another origin. By default, nginx sends the relay's name as the host and no information about the sender.
// If it speaks HTTP/1.0, its older default, the version gives it away; otherwise only the headers give it
// away that the deployment notes tell operators to set
// (https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_http_version).
func direct(r *http.Request) bool {
	if !r.ProtoAtLeast(1, 1) || new(http.CrossOriginProtection).Check(r) != nil {
		return false
	}
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if _, ok := r.Header[name]; ok {
			return false
		}
	}
	return peer(r).IsLoopback() && local(r.Host)
}

// sender returns the address that a request comes from: the other end of the connection or, if that is a
// trusted proxy, the last address in X-Forwarded-For that is not one
// (https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/X-Forwarded-For#selecting_an_ip_address).
func (s *Server) sender(r *http.Request) netip.Addr {
	from := peer(r)
	hops := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
	for i := len(hops) - 1; i >= 0 && s.trusts(from); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break // the last known proxy is the nearest known address
		}
		from = hop.Unmap().WithZone("")
	}
	return from
}

// trusts reports whether an address belongs to a trusted proxy.
func (s *Server) trusts(address netip.Addr) bool {
	return slices.ContainsFunc(s.config.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(address) })
}

// peer returns the address at the other end of the connection.
func peer(r *http.Request) netip.Addr {
	address, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return address.Addr().Unmap()
}
