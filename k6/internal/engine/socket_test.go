package engine

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pushbench/pushbench/k6/internal/scripted"
)

func listen(t *testing.T, address string) (net.Listener, netip.AddrPort) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("%s: %v", address, err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener, netip.MustParseAddrPort(listener.Addr().String())
}

func TestSocketsConnectFromTheAddressTheyAreGiven(t *testing.T) {
	t.Parallel()
	listener, to := listen(t, "127.0.0.1:0")
	for _, from := range []string{"127.0.0.2", "127.0.0.3", "127.0.0.2"} {
		fd, err := openSocket(to, netip.MustParseAddr(from))
		if err != nil {
			t.Fatal(err)
		}
		conn, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if host, _, _ := net.SplitHostPort(conn.RemoteAddr().String()); host != from {
			t.Errorf("connected from %s, expected %s", host, from)
		}
		_ = conn.Close()
		_ = unix.Close(fd)
	}
}

func TestSocketsReachIPv6(t *testing.T) {
	t.Parallel()
	listener, to := listen(t, "[::1]:0")
	fd, err := openSocket(to, netip.Addr{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}

func TestAnAddressOfAnotherMachineIsAShortageAndARefusalIsNone(t *testing.T) {
	t.Parallel()
	_, to := listen(t, "127.0.0.1:0")
	if _, err := openSocket(to, netip.MustParseAddr("192.0.2.1")); err == nil {
		t.Error("an address of documentation was bound")
	} else if what, lacks := shortage(err); !lacks || what != "addresses" {
		t.Errorf("%v: %q, %v", err, what, lacks)
	}
	for _, errno := range []unix.Errno{unix.ECONNREFUSED, unix.ECONNRESET, unix.ETIMEDOUT} {
		if what, lacks := shortage(fmt.Errorf("connect: %w", errno)); lacks {
			t.Errorf("%v: %s", errno, what)
		}
	}
}

func TestWhatTheKernelLacksIsNamed(t *testing.T) {
	t.Parallel()
	for errno, want := range map[unix.Errno]string{ // of socket(2), connect(2), write(2) and epoll_ctl(2)
		unix.EMFILE: "open_files", unix.ENFILE: "open_files", unix.EADDRNOTAVAIL: "addresses",
		unix.ENOBUFS: "buffers", unix.ENOMEM: "memory", unix.ENOSPC: "memory",
	} {
		if what, lacks := shortage(fmt.Errorf("socket: %w", errno)); !lacks || what != want {
			t.Errorf("%v: %q, %v, expected %s", errno, what, lacks, want)
		}
	}
}

func TestAConnectionThatEndsForWantOfBuffersIsNoDisconnectOfTheServer(t *testing.T) {
	t.Parallel()
	server := startScripted(t, scripted.Faults{})
	e := newEngine(t, server, oneStage)
	l, p := e.loops[0], e.populations[0]
	for reason, want := range map[unix.Errno]int64{unix.ENOBUFS: 0, unix.ECONNRESET: 1} {
		c := newClient(e, p, p.seats[0], 0, l.ledger.NewGroup(groupSize, e.terms()))
		c.state = opening
		before := e.gauges().Disconnects
		l.drop(c, fmt.Errorf("connection lost: %w", reason))
		if got := e.gauges().Disconnects - before; got != want || c.state != waiting {
			t.Errorf("%v: %d disconnects, expected %d; state %d", reason, got, want, c.state)
		}
	}
	if got := e.collector.shortages; len(got) != 1 || got["buffers"] != 1 {
		t.Errorf("shortages %v, expected one of buffers", got)
	}
}

func TestASocketThatIsConnectedToItselfWasRefused(t *testing.T) {
	t.Parallel()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	loopback := netip.MustParseAddr("127.0.0.1")
	if err := unix.Bind(fd, sockaddr(netip.AddrPortFrom(loopback, 0))); err != nil {
		t.Fatal(err)
	}
	local, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	itself := netip.AddrPortFrom(loopback, uint16(local.(*unix.SockaddrInet4).Port))
	if err := unix.Connect(fd, sockaddr(itself)); err != nil {
		t.Fatal(err)
	}
	if err := socketError(fd, itself); !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("%v, expected a refusal", err)
	}
}

func TestOfTheAddressesOfANameTheOneThatAnswersIsTaken(t *testing.T) {
	t.Parallel()
	_, to := listen(t, "127.0.0.1:0")
	target := &url.URL{Scheme: "ws", Host: fmt.Sprintf("localhost:%d", to.Port())}
	if got, err := resolve(target); err != nil || got != to {
		t.Errorf("%v, %v: expected %v", got, err, to)
	}
	target.Host = "127.0.0.1"
	if got, err := resolve(target); err != nil || got.Port() != 80 {
		t.Errorf("%v, %v: expected port 80", got, err)
	}
	target.Host = "nobody.invalid:80"
	before := time.Now()
	if _, err := resolve(target); err == nil || time.Since(before) > 2*resolveTimeout {
		t.Errorf("a name that nobody has: %v", err)
	}
}
