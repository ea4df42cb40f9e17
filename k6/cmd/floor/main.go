// Command floor is the minimal client process: one thread and one epoll set. It reads bytes, finds the mark of each
// delivery, discards the bytes, and sends prepared requests. No generator can be cheaper; `make bench-generator` prints
// how close k6/x/push comes. It reads the same environment as the scenarios.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func main() {
	if err := run(os.Getenv("URL"), number("CLIENTS")); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

// number reads a number from the environment, or returns 0 if it is missing.
func number(name string) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil && os.Getenv(name) != "" {
		fmt.Fprintf(os.Stderr, "floor: %s must be a number\n", name)
		os.Exit(2)
	}
	return n
}

func run(url string, clients int) error {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	f := &floor{epoll: epoll, events: make([]unix.EpollEvent, 256), buf: make([]byte, 64<<10)}
	switch os.Getenv("PROTOCOL") {
	case "token-stream-sse":
		err = f.streams(url, clients)
	case "posts-http":
		err = f.posts(url, clients, number("RATE"))
	default:
		err = f.boards(url, clients, number("BOARD_SIZE"))
	}
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		f.stopped.Store(true)
	}()
	f.loop()
	fmt.Println(f.found)
	return nil
}

// floor is a set of connections, and how it handles their bytes.
type floor struct {
	epoll   int
	sockets []int
	mark    []byte               // mark of what is counted
	then    func(int, []byte)    // called with what a socket received; nil for no call
	timer   int                  // 0 for none
	tick    func(expired uint64) // called when the timer expires
	events  []unix.EpollEvent
	buf     []byte
	found   int
	stopped atomic.Bool
}

// adopt takes over the socket of a connection, which may be closed afterwards.
func (f *floor) adopt(conn *net.TCPConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	socket := -1
	control := raw.Control(func(original uintptr) { socket, err = unix.FcntlInt(original, unix.F_DUPFD_CLOEXEC, 0) })
	if err := errors.Join(control, err); err != nil {
		return err
	}
	f.sockets = append(f.sockets, socket)
	return f.watch(socket)
}

func (f *floor) watch(fd int) error {
	return unix.EpollCtl(f.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

// loop reads and discards everything until it is stopped.
func (f *floor) loop() {
	runtime.LockOSThread()
	var latest time.Duration
	for start := time.Now(); !f.stopped.Load(); {
		n, err := unix.EpollWait(f.epoll, f.events, 100)
		if err != nil && err != unix.EINTR {
			break
		}
		for _, event := range f.events[:max(n, 0)] {
			fd := int(event.Fd)
			size := call(unix.SYS_READ, fd, f.buf)
			if size <= 0 {
				_ = unix.Close(fd)
				continue
			}
			latest = time.Since(start)
			if fd == f.timer {
				f.tick(*(*uint64)(unsafe.Pointer(unsafe.SliceData(f.buf))))
				continue
			}
			f.count(f.buf[:size])
			if f.then != nil {
				f.then(fd, f.buf[:size])
			}
		}
	}
	_ = latest
}

func (f *floor) count(data []byte) {
	for {
		i := bytes.Index(data, f.mark)
		if i < 0 {
			return
		}
		f.found++
		data = data[i+len(f.mark):]
	}
}

// call reads or writes without notifying the runtime. It returns 0 or less on failure.
func call(number uintptr, fd int, data []byte) int {
	first := unsafe.Pointer(unsafe.SliceData(data))
	size, _, errno := unix.RawSyscall(number, uintptr(fd), uintptr(first), uintptr(len(data)))
	if errno != 0 {
		return -1
	}
	return int(size)
}
