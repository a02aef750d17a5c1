package blackbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/sysinfo"
)

// processRules are about what a plugin holds, and how it lets go.
var processRules = []Rule{
	{"Descriptors", "has as many descriptors open after 200 connections as before", streams, closesDescriptors},
	{"Growth", "does not grow with connections that have come and gone", streams, staysSmall},
	{"Stop", "closes every socket within two seconds of Stop", serves, stops},
	{"Lifeline", "exits when the driver is gone", serves, exitsWithDriver},
}

// passing is the payload of connections that come and go, bytes.
const passing = 4 << 10

// come has connections come and go, some of them side by side.
func (e *env) come(connections int) error {
	return each(connections, func(id int) error {
		p, err := e.dial(id)
		if err != nil {
			return err
		}
		defer p.close()
		return p.exchange(0, 4)
	})
}

func closesDescriptors(e *env) (string, error) {
	const connections = 200
	if err := e.serve(passing, nil); err != nil {
		return "", err
	}
	if err := e.come(1); err != nil { // what is opened once for all is no leak
		return "", err
	}
	if err := e.wantLive(0); err != nil {
		return "", err
	}
	before, err := sysinfo.Descriptors(e.process.PID())
	if err != nil {
		return "", unseen(err)
	}
	if err := e.come(connections); err != nil {
		return "", err
	}
	left := 0
	err = e.eventually(closing, func() error {
		now, err := sysinfo.Descriptors(e.process.PID())
		if left = len(now); err == nil && left > len(before) {
			err = fmt.Errorf("%d descriptors are open, there were %d before", left, len(before))
		}
		return err
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d before, %d after %d connections", len(before), left, connections), nil
}

// footprint is what a process holds, 0 where neither it nor the system can tell.
type footprint struct {
	rss, goroutines int64
	threads         int
}

func (e *env) footprint() (f footprint, err error) {
	c, err := e.inspect()
	if err != nil {
		return f, err
	}
	u, err := sysinfo.ProcessUsage(e.process.PID())
	if errors.Is(err, errors.ErrUnsupported) && c.Goroutines > 0 {
		err = nil
	}
	return footprint{u.RSS, max(0, c.Goroutines), u.Threads}, unseen(err)
}

// exceeds says what of f is more than before and a tolerance allow.
func (f footprint) exceeds(before footprint) error {
	const (
		memory     = 8 << 20 // about 8 KiB a connection
		goroutines = 8       // of calls to the control plane, and a collector's
		threads    = 8
	)
	var errs []error
	if grown := f.rss - before.rss; grown > memory {
		errs = append(errs, fmt.Errorf("memory grew by %s, the bound is %s", mib(grown), mib(memory)))
	}
	if f.goroutines > before.goroutines+goroutines {
		errs = append(errs, fmt.Errorf("%d goroutines are left, there were %d before", f.goroutines, before.goroutines))
	}
	if f.threads > before.threads+threads {
		errs = append(errs, fmt.Errorf("%d threads are left, there were %d before", f.threads, before.threads))
	}
	return errors.Join(errs...)
}

// staysSmall compares with what the process holds after a first round, which
// fills pools.
func staysSmall(e *env) (string, error) {
	const connections = 200
	rounds := e.scale(5, 1)
	if err := e.serve(passing, nil); err != nil {
		return "", err
	}
	var before, after footprint
	for round := range rounds + 1 {
		if err := e.come(connections); err != nil {
			return "", err
		}
		if err := e.wantLive(0); err != nil {
			return "", err
		}
		if round > 0 {
			continue
		}
		var err error
		if before, err = e.footprint(); err != nil {
			return "", err
		}
	}
	err := e.eventually(closing, func() (err error) {
		if after, err = e.footprint(); err == nil {
			err = after.exceeds(before)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	seen := fmt.Sprintf("%s of memory more, %d threads more", mib(after.rss-before.rss), after.threads-before.threads)
	if after.goroutines > 0 {
		seen += fmt.Sprintf(", %d goroutines more", after.goroutines-before.goroutines)
	}
	return fmt.Sprintf("%s after %d connections", seen, rounds*connections), nil
}

// deafFor is how many messages a peer sends and never reads an answer to: more
// than buffers hold.
const deafFor = 8192

// stops: with connections at rest and answers that nobody reads.
func stops(e *env) (string, error) {
	const within, atRest = 2 * time.Second, plainClients - 1
	if err := e.start(); err != nil {
		return "", err
	}
	before, hidden := e.sockets()
	s := e.setup(control.RoleServer)
	if streams(e) {
		s.Cell.Window = deafFor
	}
	if err := e.listenAs(s); err != nil {
		return "", err
	}
	peers := make([]*peer, atRest)
	for id := range peers {
		var err error
		if peers[id], err = e.dial(id); err == nil {
			err = peers[id].exchange(0, 1)
		}
		if err != nil {
			return "", err
		}
	}
	if streams(e) {
		deaf, err := e.dial(atRest)
		if err != nil {
			return "", err
		}
		go func() { _ = deaf.ask(0, deafFor) }() // it may never get rid of them
	}
	ctx, cancel := context.WithTimeout(e.ctx, within)
	defer cancel()
	began := time.Now()
	if err := e.process.Stop(ctx); err != nil {
		return "", fmt.Errorf("stop: %w", err)
	}
	took := time.Since(began)
	if err := e.allClosed(peers); err != nil {
		return "", err
	}
	seen := fmt.Sprintf("took %v, every connection and the listener are closed", took.Round(10*time.Microsecond))
	if hidden != nil {
		return seen + "; the process's sockets are not to be seen on this system", nil
	}
	return seen, e.eventually(within, func() error {
		now, err := e.sockets()
		if err == nil && now > before {
			err = fmt.Errorf("%d sockets are open after Stop, there were %d before Prepare", now, before)
		}
		return err
	})
}

// allClosed waits for the end of every connection and for the address to be
// refused. A datagram socket that is gone answers no message.
func (e *env) allClosed(peers []*peer) error {
	if e.protocol.Datagram {
		if err := peers[0].ask(1, 1); err != nil {
			return nil // the kernel says so
		}
		if _, err := peers[0].receive(100 * time.Millisecond); err == nil {
			return errors.New("a datagram is still answered after Stop")
		}
		return nil
	}
	for i, p := range peers {
		if _, err := p.receive(closing); errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("connection %d is still open after Stop", i)
		}
	}
	return e.eventually(closing, func() error {
		c, err := net.Dial(e.protocol.Network, e.addrs[0])
		if err != nil {
			return nil
		}
		_ = c.Close()
		return errors.New("connections are still accepted after Stop")
	})
}

func (e *env) sockets() (n int, err error) {
	list, err := sysinfo.Descriptors(e.process.PID())
	for _, d := range list {
		if strings.HasPrefix(d, "socket:") {
			n++
		}
	}
	return n, err
}

func exitsWithDriver(e *env) (string, error) {
	const within = 3 * time.Second
	if err := e.serve(plainPayload, nil); err != nil {
		return "", err
	}
	if _, err := e.chatter(2); err != nil {
		return "", err
	}
	began := time.Now()
	e.process.CutLifeline()
	select {
	case <-e.process.Done():
		return fmt.Sprintf("gone %v after its standard input had ended", time.Since(began).Round(100*time.Microsecond)), nil
	case <-time.After(within):
		return "", fmt.Errorf("it is still there %v after its standard input ended, as it does when the driver dies", within)
	case <-e.ctx.Done():
		return "", e.ctx.Err()
	}
}
