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
