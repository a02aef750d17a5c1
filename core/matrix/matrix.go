// Package matrix turns matrix.yaml into suites of cells, and suites into a
// schedule of trials. It knows the axes, what the file may say and in which
// order cells are measured. It must not know what a runtime can do or how a
// trial is run; it opens no file but the one that Load is given.
//
// The file is read strictly: what is misspelt, ambiguous or written twice is an
// error with its position, never a guess.
package matrix

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/netmatrix/netmatrix/core/cell"
)

// Version is the version of the file format that this package reads.
const Version = 1

// Limits on what one file may ask for.
const (
	MaxCells    = 100_000
	MaxRounds   = 1000
	MaxDuration = time.Hour // of warmup and of measure
	MaxBuffer   = 1 << 30   // bytes of a socket buffer
	MaxRepeats  = 2         // of a disturbed trial
	MaxDelta    = 0.5       // of 1
	maxFile     = 256 << 10 // bytes of the file itself
)

// Matrix is a whole matrix file.
type Matrix struct {
	Version  int
	Runtimes []Runtime // in the order of the file
	Baseline cell.Contender
	Load     LoadSetup
	CPUs     CPUs
	Suites   []*Suite // in the order of the file
}

// Runtime is a runtime under test and the plugin that serves it.
type Runtime struct {
	Name   string
	Plugin string // as written
	Path   string // Plugin, seen from the folder of the matrix file
}

// LoadSetup says what the load runs on.
type LoadSetup struct {
	Runtime string
	Threads int    // IO threads; 0: as many as the load's CPUs
	Wait    string // cell.Busy or cell.Sleep
}

// The modes of CPUs.
const (
	CPUsAuto = "auto" // disjoint sets for server and load where there are two CPUs or more
	CPUsNone = "none" // no placement at all
	CPUsList = "list" // the sets given
)

// CPUs says where processes run. Server and Load are set in mode CPUsList only.
type CPUs struct {
	Mode         string
	Server, Load []int
}

// Suite is a named set of cells and how they are measured.
type Suite struct {
	Name          string
	Question      string // what the suite answers, one line; may be empty
	Rounds        int
	Warmup        time.Duration  // for each contender of a trial
	Measure       time.Duration  // counted time for each contender of a trial
	Contrast      string         // the axis whose values are compared
	Twin          cell.Contender // measured twice, to see by how much equals differ; zero: nobody
	Delta         float64        // ratios within 1 ± Delta count as equal
	Repeats       int            // how often a disturbed trial is measured again, at most
	SendBuffer    int            // socket buffer to ask for, bytes; 0: the kernel's own
	ReceiveBuffer int            // as SendBuffer
	Cells         []cell.Cell    // canonical, each once, in the order of the file
	Excluded      []Exclusion
}

// Exclusion is a cell that the file takes out, and its reason in words.
type Exclusion struct {
	Cell cell.Cell
	Why  string
}

// Contrasts are the values of Suite.Contrast, the default first.
func Contrasts() []string {
	return []string{"contender", "execution", "io_model", "protocol", "work"}
}

// Load reads and parses the matrix file at path. A file that can be read but is
// not right is an *Error.
func Load(path string) (*Matrix, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the matrix: %w", err)
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, maxFile+1)) // one more than allowed, so that Parse refuses it
	if err != nil {
		return nil, fmt.Errorf("read the matrix: %w", err)
	}
	return Parse(path, src)
}

// Parse reads a matrix file. name is what errors call it, and plugin paths are
// resolved against its folder. Every error is an *Error.
func Parse(name string, src []byte) (*Matrix, error) {
	s, err := newSource(name, src)
	if err != nil {
		return nil, err
	}
	root, err := s.tree()
	if err != nil {
		return nil, err
	}
	d := &decoder{source: s}
	m := d.matrix(root)
	if d.err != nil {
		return nil, d.err
	}
	return m, nil
}

// Suite is the suite of that name.
func (m *Matrix) Suite(name string) (*Suite, error) {
	names := make([]string, len(m.Suites))
	for i, s := range m.Suites {
		if s.Name == name {
			return s, nil
		}
		names[i] = s.Name
	}
	return nil, fmt.Errorf("there is no suite %s; %s", quote(name), suggest(name, names))
}

// Runtime is the runtime of that name.
func (m *Matrix) Runtime(name string) (Runtime, error) {
	names := make([]string, len(m.Runtimes))
	for i, r := range m.Runtimes {
		if r.Name == name {
			return r, nil
		}
		names[i] = r.Name
	}
	return Runtime{}, fmt.Errorf("there is no runtime %s; %s", quote(name), suggest(name, names))
}
