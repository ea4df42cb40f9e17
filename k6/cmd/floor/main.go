// Command floor is the least that a client process can do: one thread and one epoll set that reads what comes, finds the time stamp
// and discards it. No generator can be cheaper; how close k6/x/push comes is what `make bench-generator` prints.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/gorilla/websocket"
	"golang.org/x/sys/unix"

	"github.com/pushbench/pushbench/k6/internal/scripted"
)

func main() {
	address := flag.String("url", "ws://127.0.0.1:8080", "`URL` of a scripted server that runs with -source")
	clients := flag.Int("clients", 1000, "connections")
	board := flag.Int("board", 10, "members of a board")
	flag.Parse()
	if err := run(*address, *clients, *board); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run(address string, clients, board int) error {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	for number := range clients {
		if err := connect(epoll, address+"/ws", scripted.Join(number, board)); err != nil {
			return err
		}
	}
	var stopped atomic.Bool
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		stopped.Store(true)
	}()
	fmt.Println(read(epoll, &stopped))
	return nil
}

func connect(epoll int, target string, join []byte) error {
	conn, response, err := websocket.DefaultDialer.Dial(target, nil)
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	defer func() { _ = conn.Close() }()
	if err := conn.WriteMessage(websocket.TextMessage, join); err != nil {
		return err
	}
	raw, err := conn.NetConn().(*net.TCPConn).SyscallConn()
	if err != nil {
		return err
	}
	fd := -1
	if err := raw.Control(func(original uintptr) { fd, err = unix.FcntlInt(original, unix.F_DUPFD_CLOEXEC, 0) }); err != nil {
		return err
	}
	return unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

// read discards everything until it is stopped and returns how many messages had a time stamp.
func read(epoll int, stopped *atomic.Bool) (messages int) {
	runtime.LockOSThread()
	stamp := []byte(`"sentAt":`)
	events, buf := make([]unix.EpollEvent, 256), make([]byte, 64<<10)
	var latest time.Duration
	for start := time.Now(); !stopped.Load(); {
		n, err := unix.EpollWait(epoll, events, 100)
		if err != nil && err != unix.EINTR {
			break
		}
		for _, event := range events[:max(n, 0)] {
			size, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(event.Fd), uintptr(unsafe.Pointer(unsafe.SliceData(buf))), uintptr(len(buf)))
			if errno != 0 || size == 0 {
				_ = unix.Close(int(event.Fd))
				continue
			}
			latest = time.Since(start)
			for data := buf[:size]; ; messages++ {
				i := bytes.Index(data, stamp)
				if i < 0 {
					break
				}
				data = data[i+len(stamp):]
			}
		}
	}
	_ = latest
	return messages
}
