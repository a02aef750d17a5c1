package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// DamageError is a line of a trials file that is no record.
type DamageError struct {
	Path   string
	Line   int   // from 1
	Offset int64 // of the line's first byte
	Err    error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%s: line %d at byte %d is damaged: %v", e.Path, e.Line, e.Offset, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// ReadAll returns the records of a results folder in the order of writing. A
// last line without its newline is what a killed writer leaves and is skipped.
// Damaged lines are reported, each as a *DamageError in the joined error, and
// all other records are returned with it.
func ReadAll(dir string) ([]Record, error) {
	path := filepath.Join(dir, trialsFile)
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	defer func() { _ = f.Close() }() // only read: nothing can be lost
	return readLines(f, path)
}

func readLines(r io.Reader, path string) ([]Record, error) {
	var (
		recs   []Record
		damage []error
		offset int64
		in     = bufio.NewReader(r)
	)
	for line := 1; ; line++ {
		text, err := in.ReadBytes('\n')
		if err == io.EOF {
			return recs, errors.Join(damage...)
		}
		if err != nil {
			return recs, errors.Join(append(damage, fmt.Errorf("read results: %w", err))...)
		}
		rec, err := decodeLine(text)
		if err != nil {
			damage = append(damage, &DamageError{path, line, offset, err})
		} else {
			recs = append(recs, rec)
		}
		offset += int64(len(text))
	}
}

func decodeLine(text []byte) (Record, error) {
	var rec Record
	if len(bytes.TrimSpace(text)) == 0 {
		return rec, errors.New("the line is empty")
	}
	if err := json.Unmarshal(text, &rec); err != nil {
		return rec, err
	}
	return rec, checkSchema(rec.Schema)
}
