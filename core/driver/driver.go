// Package driver is the host side of netmatrix: it walks a schedule, starts
// plugins in fresh processes, lets the load measure and appends what it saw as
// records. It generates no load, so that its own heap, collector and display
// cannot touch a measurement. It knows cells, processes and time-outs, and
// nothing of sockets or of how records are reported.
package driver

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/netmatrix/netmatrix/core/agent"
	"github.com/netmatrix/netmatrix/core/authority"
	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/goplugin"
	"github.com/netmatrix/netmatrix/core/matrix"
	"github.com/netmatrix/netmatrix/core/sysinfo"
)

// Config is what a driver works with.
type Config struct {
	Runtimes []matrix.Runtime
	Load     matrix.LoadSetup
	CPUs     matrix.CPUs
	// Certs is a folder with ca.pem, cert.pem and key.pem for protocols under
	// TLS; empty: they are made for the run.
	Certs    string
	Timeouts Timeouts
}

// Timeouts bound every step of a trial; past one the process is killed. The
// zero value of each means the default.
type Timeouts struct {
	Start   time.Duration // exec to handshake, and Describe: 10 s
	Prepare time.Duration // 20 s
	Inspect time.Duration // 5 s
	Drain   time.Duration // for what is in flight at the end of a plan: 2 s
	Measure time.Duration // beyond plan and drain: 5 s
	Stop    time.Duration // 2 s
}

func (t Timeouts) withDefaults() Timeouts {
	for _, x := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&t.Start, 10 * time.Second}, {&t.Prepare, 20 * time.Second}, {&t.Inspect, 5 * time.Second},
		{&t.Drain, 2 * time.Second}, {&t.Measure, 5 * time.Second}, {&t.Stop, 2 * time.Second},
	} {
		if *x.field == 0 {
			*x.field = x.value
		}
	}
	return t
}

// Driver runs trials, one at a time.
type Driver struct {
	host     *goplugin.Host
	timeouts Timeouts
	load     matrix.LoadSetup
	cpus     matrix.CPUs
	allowed  []int
	driver   string // SHA-256 of this executable
	certs    *authority.Certificates
	// interruptsApart: the kernel keeps interrupts out of the CPU time of
	// processes.
	interruptsApart bool
	plugins         map[string]*Plugin
	order           []string
}

// Plugin is one plugin executable and what it says of itself.
type Plugin struct {
	Name        string
	Path        string
	SHA256      string
	Build       Build
	Description control.Description
	// Err is why the plugin could not be asked; its trials will show the same.
	Err error
}

// A ConfigError is a Config that does not fit this machine: a plugin that is not
// there, a CPU that may not be used.
type ConfigError struct{ msg string }

func (e *ConfigError) Error() string { return e.msg }

func configErrorf(format string, args ...any) error {
	return &ConfigError{fmt.Sprintf(format, args...)}
}

// New looks at every plugin: it must be a file; what it says of itself is asked
// in a process of its own, all at once.
func New(ctx context.Context, host *goplugin.Host, cfg Config) (*Driver, error) {
	allowed, err := allowedCPUs(cfg.CPUs)
	if err != nil {
		return nil, err
	}
	d := &Driver{
		host: host, timeouts: cfg.Timeouts.withDefaults(), load: cfg.Load, cpus: cfg.CPUs,
		allowed: allowed, plugins: make(map[string]*Plugin),
	}
	for _, rt := range cfg.Runtimes {
		st, err := os.Stat(rt.Path)
		if err != nil || st.IsDir() {
			return nil, configErrorf("runtime %s: no plugin at %s: build it (make build) or correct its path", rt.Name, rt.Path)
		}
		d.plugins[rt.Name] = &Plugin{Name: rt.Name, Path: rt.Path}
		d.order = append(d.order, rt.Name)
	}
	if d.plugins[cfg.Load.Runtime] == nil {
		return nil, configErrorf("the load's runtime %s is none of %v", cfg.Load.Runtime, d.order)
	}
	if d.certs, err = certificates(cfg.Certs); err != nil {
		return nil, err
	}
	var wg sync.WaitGroup
	wg.Go(func() { d.driver = ownHash() })
	wg.Go(func() {
		apart := sysinfo.Machine().IRQTimeAccounting
		d.interruptsApart = apart != nil && *apart
	})
	for _, p := range d.plugins {
		wg.Go(func() { p.SHA256, p.Build = hashFile(p.Path), readBuild(p.Path) })
		wg.Go(func() { d.describe(ctx, p) })
	}
	wg.Wait()
	return d, ctx.Err()
}

// certificates are those in a folder; empty: new ones for this run.
func certificates(dir string) (*authority.Certificates, error) {
	if dir == "" {
		return authority.New()
	}
	return authority.Read(dir)
}

// Plugins are the plugins in the order given.
func (d *Driver) Plugins() []*Plugin {
	list := make([]*Plugin, len(d.order))
	for i, name := range d.order {
		list[i] = d.plugins[name]
	}
	return list
}

// Unsupported says why a cell cannot be run; empty: it can, as far as the
// plugin has said.
func (d *Driver) Unsupported(c cell.Cell) string {
	p := d.plugins[c.Runtime]
	if p.Err != nil {
		return ""
	}
	return agent.Unsupported(p.Description, c)
}

func (d *Driver) describe(ctx context.Context, p *Plugin) {
	ctx, cancel := context.WithTimeout(ctx, d.timeouts.Start)
	defer cancel()
	proc, err := d.host.Start(ctx, goplugin.Command{Name: p.Name, Path: p.Path, GOMAXPROCS: 1})
	if err != nil {
		p.Err = err
		return
	}
	defer proc.Kill()
	p.Description, p.Err = proc.Describe(ctx)
}
