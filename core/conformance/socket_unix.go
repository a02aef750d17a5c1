//go:build unix

package conformance

import (
	"net/netip"
	"os"
	"strconv"
	"syscall"
)

// openDescriptors counts this process's open descriptors.
func openDescriptors() int { return len(descriptors()) }

// descriptors lists this process's open descriptors. The one that the listing
// itself needs is gone again, but named; whoever uses it must expect that.
func descriptors() []int {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return nil
	}
	var fds []int
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil {
			fds = append(fds, fd)
		}
	}
	return fds
}

// socketOption reads an option of the socket in this process that is bound to
// local and connected to remote. This is how a case looks at a socket that the
// runtime keeps to itself.
func socketOption(local, remote string, level, option int) (int, bool) {
	for _, fd := range descriptors() {
		own, err := syscall.Getsockname(fd)
		if err != nil || endpoint(own) != local {
			continue
		}
		other, err := syscall.Getpeername(fd)
		if err != nil || endpoint(other) != remote {
			continue
		}
		value, err := syscall.GetsockoptInt(fd, level, option)
		return value, err == nil
	}
	return 0, false
}

func endpoint(a syscall.Sockaddr) string {
	if a, ok := a.(*syscall.SockaddrInet4); ok {
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port)).String()
	}
	return ""
}
