package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pushbench/pushbench/k6/internal/protocol"
)

// resolveTimeout bounds the look-up of the target's name, and each test of whether one of its addresses answers.
const resolveTimeout = 5 * time.Second

// resolve returns the address of the target. If its name has several, it is the first one that accepts a connection.
func resolve(target *url.URL) (netip.AddrPort, error) {
	host, port := protocol.Address(target)
	ctx, cancel := context.WithTimeout(context.Background(), resolveTimeout)
	defer cancel()
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("URL %s: %w", target, err)
	}
	number, err := net.DefaultResolver.LookupPort(ctx, "tcp", port)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("URL %s: %w", target, err)
	}
	at := func(address netip.Addr) netip.AddrPort { return netip.AddrPortFrom(address.Unmap(), uint16(number)) }
	for _, address := range addresses[1:] {
		first := at(addresses[0])
		if conn, err := net.DialTimeout("tcp", first.String(), resolveTimeout); err == nil {
			_ = conn.Close()
			break
		}
		addresses[0] = address
	}
	return at(addresses[0]), nil
}

// source returns the address that the client connects from; the zero Addr leaves the choice to the kernel.
func (e *Engine) source(number int) netip.Addr {
	if len(e.config.Sources) == 0 {
		return netip.Addr{}
	}
	return e.config.Sources[number%len(e.config.Sources)]
}

// openSocket begins a connection. It is established or has failed once the socket becomes writable.
func openSocket(to netip.AddrPort, from netip.Addr) (fd int, err error) {
	family := unix.AF_INET
	if to.Addr().Is6() {
		family = unix.AF_INET6
	}
	fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("socket: %w", err)
	}
	defer func() {
		if err != nil {
			_ = unix.Close(fd)
			fd = -1
		}
	}()
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return fd, fmt.Errorf("socket: %w", err)
	}
	if from.IsValid() {
		// The port is chosen at connect, when only the combination with the server's address has to be unique: ip(7).
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1); err != nil {
			return fd, fmt.Errorf("socket: %w", err)
		}
		if err := unix.Bind(fd, sockaddr(netip.AddrPortFrom(from, 0))); err != nil {
			return fd, fmt.Errorf("bind to %s: %w", from, err)
		}
	}
	if err := unix.Connect(fd, sockaddr(to)); err != nil && err != unix.EINPROGRESS {
		return fd, fmt.Errorf("connect: %w", err)
	}
	return fd, nil
}

func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}

// socketError returns why a connection attempt failed; nil if it did not. A socket whose port happens to be the
// server's connects to itself if no process listens there (simultaneous open); that counts as a refusal.
func socketError(fd int, to netip.AddrPort) error {
	number, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err != nil {
		return err
	}
	if number != 0 {
		return unix.Errno(number)
	}
	local, err := unix.Getsockname(fd)
	if err != nil {
		return err
	}
	var port int
	switch address := local.(type) {
	case *unix.SockaddrInet4:
		port = address.Port
		if port == int(to.Port()) && netip.AddrFrom4(address.Addr) == to.Addr() {
			return unix.ECONNREFUSED
		}
	case *unix.SockaddrInet6:
		port = address.Port
		if port == int(to.Port()) && netip.AddrFrom16(address.Addr) == to.Addr() {
			return unix.ECONNREFUSED
		}
	}
	return nil
}

// shortage returns the resource that this machine lacks for one more connection. Such a failure says nothing about the
// server.
func shortage(err error) (what string, lacks bool) {
	for errno, name := range map[unix.Errno]string{
		unix.EMFILE: "open_files", unix.ENFILE: "open_files", unix.EADDRNOTAVAIL: "addresses",
		unix.ENOBUFS: "buffers", unix.ENOMEM: "memory", unix.ENOSPC: "memory", // of epoll: epoll_ctl(2)
	} {
		if errors.Is(err, errno) {
			return name, true
		}
	}
	return "", false
}

// read and write call the kernel without notifying the runtime: on a non-blocking socket they never wait.
func read(fd int, p []byte) (int, error) {
	return rawIO(unix.SYS_READ, fd, p)
}

func write(fd int, p []byte) (int, error) {
	return rawIO(unix.SYS_WRITE, fd, p)
}

func rawIO(call uintptr, fd int, p []byte) (int, error) {
	n, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
