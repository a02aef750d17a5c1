package driver

import (
	"fmt"
	"os"
	"time"

	"github.com/netmatrix/netmatrix/core/record"
	"github.com/netmatrix/netmatrix/core/sysinfo"
)

const (
	// glance is how often the CPUs are looked at while a trial measures: rarely
	// enough to take less than a thousandth of one.
	glance = 200 * time.Millisecond
	// tick is what the kernel's counts of idle and stolen time are multiples of.
	tick = 10 * time.Millisecond
	// disturbedShare is the most of the CPUs that others may use, beyond what a
	// tick is of the time looked at, and likewise the hypervisor.
	disturbedShare = 0.03
	// aloneShare is how little of the CPUs all other processes may have used for
	// the trial to count as alone on them.
	aloneShare = 0.01
	// disturbedStretches is the share of stretches that may be over it.
	disturbedStretches = 0.1
)

// sighting is what CPUs have done up to a time, and what of it was ours.
type sighting struct {
	at   time.Time
	cpus sysinfo.Activity
	ours time.Duration // CPU time of the trial's processes and of the driver
}

// watch looks at the CPUs of the trial until the function it returns is called,
// which says what others did on them; nil where the system does not tell.
func (a *attempt) watch() func() *record.Others {
	cpus := append(a.place.server[:len(a.place.server):len(a.place.server)], a.place.load...)
	if len(cpus) == 0 {
		cpus = a.d.allowed
	}
	var seen []sighting
	look := func() {
		if s, err := a.look(cpus); err == nil {
			seen = append(seen, s)
		}
	}
	before := a.processes()
	look()
	if len(seen) == 0 || len(cpus) == 0 {
		return func() *record.Others { return nil }
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		t := time.NewTicker(glance)
		defer t.Stop()
		for {
			select {
			case <-stop:
				return
			case <-t.C:
				look()
			}
		}
	}()
	return func() *record.Others {
		close(stop)
		<-stopped
		look()
		return others(seen, len(cpus), a.d.interruptsApart, spent(before, a.processes()))
	}
}

// processes is the CPU time so far of every process that has no part in the
// trial, by its number; nil where the system does not tell.
func (a *attempt) processes() map[int]time.Duration {
	list, err := sysinfo.Processes()
	if err != nil {
		return nil
	}
	theirs := make(map[int]time.Duration, len(list))
	for _, p := range list {
		theirs[p.PID] = p.CPU
	}
	delete(theirs, os.Getpid())
	for _, p := range a.parties() {
		delete(theirs, p.proc.PID())
	}
	return theirs
}

// spent is the CPU time that other processes used from before to after; -1:
// unknown. One that ended in between is not seen.
func spent(before, after map[int]time.Duration) time.Duration {
	if before == nil || after == nil {
		return -1
	}
	var sum time.Duration
	for pid, cpu := range after {
		sum += max(0, cpu-before[pid])
	}
	return sum
}

func (a *attempt) look(cpus []int) (sighting, error) {
	s := sighting{at: time.Now()}
	var err error
	if s.cpus, err = sysinfo.ReadActivity(cpus); err != nil {
		return s, err
	}
	nanos, err := sysinfo.OwnCPU()
	for _, p := range a.parties() {
		if err != nil {
			return s, err
		}
		var n int64
		n, err = sysinfo.ProcessCPU(p.proc.PID())
		nanos += n
	}
	s.ours = time.Duration(nanos)
	return s, err
}

// others is what was done on a number of CPUs by nobody of ours. Used is what
// was neither idle nor stolen: the kernel measures those two, while the time of
// processes in the same table is sampled by its tick. apart: interrupts are
// not in the CPU time of processes, so that ours are in nobody's.
//
// Waking up an idle CPU takes the kernel time that is in nobody's either, some
// microseconds on a virtual machine: at one client a tenth of a CPU and more. So
// what was used counts only where spent, the CPU time of other processes over
// the whole, says that there were some; -1: unknown.
func others(seen []sighting, cpus int, apart bool, spent time.Duration) *record.Others {
	if len(seen) < 2 {
		return nil
	}
	first, last := seen[0], seen[len(seen)-1]
	o := &record.Others{}
	var used, over bool
	o.CPUPercent, o.StealPercent, used, over = between(first, last, cpus, apart)
	alone := false
	if spent >= 0 {
		share := float64(spent) / (float64(cpus) * float64(last.at.Sub(first.at)))
		alone = share <= aloneShare
		o.CPUPercent = 100 * share
	}
	over = over || used && !alone
	for i, s := range seen[1:] {
		// What is left when measuring ends may be too short to say anything.
		if s.at.Sub(seen[i].at) < glance/2 {
			continue
		}
		o.Stretches++
		if _, _, used, stolen := between(seen[i], s, cpus, apart); stolen || used && !alone {
			o.Over++
		}
	}
	o.Disturbed = over || float64(o.Over) > disturbedStretches*float64(o.Stretches)
	return o
}

// between is the share of the CPUs that others used and that the hypervisor
// took, in percent, and whether each is over the limit.
func between(a, b sighting, cpus int, apart bool) (used, steal float64, usedOver, stealOver bool) {
	took := b.at.Sub(a.at)
	did := b.cpus.Since(a.cpus)
	left := time.Duration(cpus)*took - did.Idle - did.Steal - (b.ours - a.ours)
	if apart {
		left -= did.Interrupts
	}
	whole := float64(cpus) * float64(took)
	used, steal = max(0, float64(left)/whole), float64(did.Steal)/whole
	limit := disturbedShare + float64(tick)/float64(took)
	return 100 * used, 100 * steal, used > limit, steal > limit
}

// disturbed are the entrants whose good records say that others disturbed them,
// and why, in words.
func disturbed(entrants []entrant, recs []record.Record) (list []entrant, why error) {
	for i, r := range recs {
		if o := r.Validity.Others; r.Status == record.OK && o != nil && o.Disturbed {
			list = append(list, entrants[i])
			why = fmt.Errorf("others used %.1f %% of the CPUs, the hypervisor %.1f %%, too much in %d of %d stretches", o.CPUPercent, o.StealPercent, o.Over, o.Stretches)
		}
	}
	return list, why
}
