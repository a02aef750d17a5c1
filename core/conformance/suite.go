// Package conformance holds the suites that implementations of the contracts
// pass, and a runtime in memory on a virtual clock to try sessions on.
//
// It knows the contracts and what went wrong elsewhere: each fault that a rule
// guards against is one case, run against every runtime. It knows no runtime
// by name and skips nothing: what a runtime cannot do, it says in its Info.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/netmatrix/netmatrix/core/transport"
)

// T is what a case needs of whoever runs it. *testing.T has it.
type T interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Case is one rule of the contract and the function that tries it.
type Case struct {
	Name string
	Rule string // as a sentence without its subject: "reads nothing more while …"
	Run  func(*Env)
	// Waits: the case spends its time waiting, so TestRuntime runs it beside
	// others that do, and counts what they leave behind after the last of them.
	Waits bool
}

// Cases are the rules every runtime is held to, in the order they are tried:
// what later cases rely on comes first.
func Cases() []Case {
	var all []Case
	for _, chapter := range [][]Case{
		streamCases, endingCases, flowCases, wakeCases, groupCases, refusalCases, socketCases,
		datagramCases, datagramWholeCases, datagramEndingCases,
	} {
		all = append(all, chapter...)
	}
	return all
}

// Variant is one way of running a runtime: an execution on an IO model.
type Variant struct {
	Execution string
	IOModel   string
	Threads   int
}

// String names the variant in a form that -run accepts unquoted.
func (v Variant) String() string {
	return fmt.Sprintf("%s-%s-%d", v.Execution, v.IOModel, v.Threads)
}

// Variants are those ways of running a runtime that its Info allows.
func Variants(info transport.Info) []Variant {
	var out []Variant
	for _, execution := range []string{"callback", "goroutine"} {
		for _, v := range []Variant{
			{execution, "shared", 1},
			{execution, "shared", 2},
			{execution, "sharded", 2},
		} {
			if !lacks(info, "execution", v.Execution) && !lacks(info, "io_model", v.IOModel) &&
				!lacks(info, "threads", fmt.Sprint(v.Threads)) {
				out = append(out, v)
			}
		}
	}
	return out
}

// executions are the first variant of each execution.
func executions(variants []Variant) []Variant {
	var out []Variant
	for _, v := range variants {
		if !slices.ContainsFunc(out, func(o Variant) bool { return o.Execution == v.Execution }) {
			out = append(out, v)
		}
	}
	return out
}

// lacks reports whether info says that the runtime cannot do value of axis.
func lacks(info transport.Info, axis, value string) bool {
	for _, l := range info.Lacks {
		if l.Axis == axis && l.Value == value {
			return true
		}
	}
	return false
}

// TestRuntime holds a runtime to the contract of package transport: every case
// in every variant, each on a runtime of its own from open. With -short it tries
// one variant of each execution.
func TestRuntime(t *testing.T, open func(t *testing.T) transport.Runtime) {
	variants := Variants(open(t).Info())
	if len(variants) == 0 {
		t.Fatal("the runtime's Info leaves no execution and IO model to run")
	}
	if testing.Short() {
		variants = executions(variants)
	}
	for _, v := range variants {
		t.Run(v.String(), func(t *testing.T) { testVariant(t, v, open) })
	}
}

// testVariant tries the cases one by one. Those that wait come after all others,
// which count what the process has open.
func testVariant(t *testing.T, v Variant, open func(t *testing.T) transport.Runtime) {
	t.Cleanup(newEnv(t, v, open(t)).census())
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			if c.Waits {
				t.Parallel()
			}
			c.try(t, v, open(t), !c.Waits)
		})
	}
}

// Check tries one case outside of go test and returns what it found wrong, one
// error for each fault; nil: the runtime keeps the rule.
func (c Case) Check(ctx context.Context, v Variant, r transport.Runtime) error {
	ctx, cancel := context.WithCancel(ctx)
	rec := &recorder{ctx: ctx}
	rec.run(func() { c.try(rec, v, r, true) })
	cancel()
	rec.cleanup()
	if err := errors.Join(rec.faults...); err != nil {
		return fmt.Errorf("%s: %s: %w", v, c.Name, err)
	}
	return nil
}

// try runs the case in an Env of its own and looks at what it leaves behind:
// in the whole process, if it is alone there. The rule stands beside a failure.
func (c Case) try(t T, v Variant, r transport.Runtime, alone bool) {
	t.Helper()
	e := newEnv(t, v, r)
	compare := func() {}
	if alone {
		compare = e.census()
	}
	t.Cleanup(func() {
		e.finish()
		e.audit()
		compare()
		if e.failed() {
			t.Logf("the rule: a runtime %s", c.Rule)
		}
	})
	c.Run(e)
}

// recorder is a T that keeps what went wrong.
type recorder struct {
	ctx      context.Context
	mu       sync.Mutex
	faults   []error
	cleanups []func()
}

// run calls f on a goroutine of its own, which Fatalf can end.
func (r *recorder) run(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

func (r *recorder) cleanup() {
	for i := len(r.cleanups) - 1; i >= 0; i-- {
		r.run(r.cleanups[i])
	}
}

func (r *recorder) Helper()                  {}
func (r *recorder) Context() context.Context { return r.ctx }
func (r *recorder) Cleanup(f func())         { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Logf(string, ...any)      {}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, errors.New(strings.TrimSpace(fmt.Sprintf(format, args...))))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}
