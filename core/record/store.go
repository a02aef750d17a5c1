package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// The files of a results folder.
const (
	runFile    = "run.json"
	trialsFile = "trials.jsonl"
)

// Errors of Create and Open.
var (
	ErrExists = errors.New("the folder already holds a run: resume it, or choose another folder")
	ErrInUse  = errors.New("another netmatrix is writing to this folder")
)

// Store appends records to a results folder, which it holds locked against
// other stores until Close. It is not safe for concurrent use.
type Store struct {
	dir  string
	file *os.File
	err  error // the first failure to write; sticky
}

// Create makes dir the home of a new run. Write run.json next.
func Create(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create results folder: %w", err)
	}
	s, err := lock(dir, os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err := s.checkEmpty(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := syncDir(dir); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Open goes on with the run in dir. A last line that a killed writer left
// incomplete is cut off.
func Open(dir string) (*Store, error) {
	if _, err := os.Stat(filepath.Join(dir, runFile)); err != nil {
		return nil, fmt.Errorf("no run in %s: %w", dir, err)
	}
	s, err := lock(dir, 0)
	if err != nil {
		return nil, err
	}
	if err := cutTornLine(s.file); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: cut off its incomplete last line: %w", s.file.Name(), err), s.Close())
	}
	return s, nil
}

// lock opens the trials file of dir and takes it for this process.
func lock(dir string, flags int) (*Store, error) {
	f, err := os.OpenFile(filepath.Join(dir, trialsFile), os.O_RDWR|os.O_APPEND|flags, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open results: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrInUse
		}
		return nil, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close())
	}
	return &Store{dir: dir, file: f}, nil
}

// checkEmpty tells a folder that is free, or was left before its run began,
// from one that holds a run.
func (s *Store) checkEmpty() error {
	info, err := s.file.Stat()
	if err != nil {
		return fmt.Errorf("results folder: %w", err)
	}
	_, err = os.Stat(filepath.Join(s.dir, runFile))
	if err == nil || info.Size() > 0 {
		return fmt.Errorf("%s: %w", s.dir, ErrExists)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("results folder: %w", err)
	}
	return nil
}

// Append writes records, a line each, in one write, and returns once they are
// on disk. Nothing is written when one of them cannot be encoded. After a
// failed write the store takes nothing more, since the end of the file may be
// an incomplete line; Open mends that.
func (s *Store) Append(recs ...Record) error {
	if s.err != nil {
		return s.err
	}
	var lines bytes.Buffer
	enc := json.NewEncoder(&lines)
	for i := range recs {
		if err := enc.Encode(&recs[i]); err != nil {
			return fmt.Errorf("record of %s: %w", recs[i].Cell, nameNonFinite(err, &recs[i]))
		}
	}
	_, err := s.file.Write(lines.Bytes())
	if err == nil {
		err = s.file.Sync()
	}
	if err != nil {
		s.err = fmt.Errorf("append results: %w", err) // a PathError: it names the file
	}
	return s.err
}

// Close releases the folder.
func (s *Store) Close() error {
	if err := s.file.Close(); err != nil {
		return fmt.Errorf("close results: %w", err)
	}
	return nil
}

// cutTornLine truncates f behind its last newline.
func cutTornLine(f *os.File) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	buf := make([]byte, 64<<10)
	for end := size; end > 0; {
		chunk := buf[:min(end, int64(len(buf)))]
		end -= int64(len(chunk))
		if _, err := f.ReadAt(chunk, end); err != nil {
			return err
		}
		if i := bytes.LastIndexByte(chunk, '\n'); i >= 0 {
			return truncate(f, size, end+int64(i)+1)
		}
	}
	return truncate(f, size, 0)
}

func truncate(f *os.File, from, to int64) error {
	if from == to {
		return nil
	}
	if err := f.Truncate(to); err != nil {
		return err
	}
	return f.Sync()
}
