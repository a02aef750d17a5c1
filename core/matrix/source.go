package matrix

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// source is the text of a matrix file, known to be text, and the maker of errors
// that point into it.
type source struct {
	file  string
	text  string
	lines []string
}

// newSource checks that src is UTF-8 text without characters that an editor
// would not show, so that lines and columns mean the same to everyone. A byte
// order mark and CRLF line ends are accepted.
func newSource(file string, src []byte) (*source, error) {
	text := strings.TrimPrefix(string(src), "\ufeff")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	s := &source{file: file, text: text, lines: strings.Split(text, "\n")}
	if len(src) > maxFile {
		return nil, s.errorf(1, 1, "the file is over %d KiB; a matrix is a page or two: is this the right file?", maxFile>>10)
	}
	for i, line := range s.lines {
		if err := s.checkLine(i+1, line); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *source) checkLine(number int, line string) error {
	column := 0
	indent := true
	for at, r := range line {
		column++
		if r == utf8.RuneError && !strings.HasPrefix(line[at:], string(utf8.RuneError)) {
			return s.errorf(number, column, "byte %#02x is not UTF-8 text; save the file as UTF-8", line[at])
		}
		if forbidden(r) {
			return s.errorf(number, column, "the character %U does not belong in a text file; remove it", r)
		}
		if r == '\t' && indent {
			return s.errorf(number, column, "a tab in the indentation; indent with spaces")
		}
		indent = indent && (r == ' ' || r == '\t')
	}
	return nil
}

// forbidden tells characters that are invisible, move the cursor or end a line
// for some readers only.
func forbidden(r rune) bool {
	return unicode.IsControl(r) && r != '\t' || r == '\u2028' || r == '\u2029' || r == '\ufeff'
}

func (s *source) errorf(line, column int, format string, args ...any) *Error {
	if last := len(s.lines); line > last { // the parser puts what is missing behind the end of the file
		line, column = last, utf8.RuneCountInString(s.lines[last-1])+1
	}
	return &Error{
		File: s.file, Line: line, Column: column,
		Msg:     fmt.Sprintf(format, args...),
		Excerpt: excerpt(s.lines[line-1], column),
	}
}

// tree parses the text into its one top-level node. Anchors, aliases and tags
// are refused wherever they stand: a matrix needs none, and without them a node
// means what its place in the file says, and no file is larger than it looks.
func (s *source) tree() (*yaml.Node, error) {
	decoder := yaml.NewDecoder(strings.NewReader(s.text))
	doc, err := decode(decoder)
	if errors.Is(err, io.EOF) {
		return nil, s.errorf(1, 1, "the file is empty; start with: version: %d", Version)
	}
	if err != nil {
		return nil, s.syntaxError(err)
	}
	root := doc.Content[0]
	if err := s.checkNode(root); err != nil {
		return nil, err
	}
	switch next, err := decode(decoder); {
	case err == nil:
		return nil, s.errorf(next.Line, next.Column, "a second document begins here; a matrix file holds one")
	case !errors.Is(err, io.EOF):
		return nil, s.syntaxError(err)
	}
	return root, nil
}

// decode reads one document. The parser panics on some junk that it takes for a
// fault of its own; to us that is one more thing that is not YAML.
func decode(d *yaml.Decoder) (doc *yaml.Node, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("yaml: %v", v)
		}
	}()
	doc = new(yaml.Node)
	return doc, d.Decode(doc)
}

func (s *source) checkNode(n *yaml.Node) error {
	switch {
	case n.Kind == yaml.AliasNode, n.Anchor != "":
		return s.errorf(n.Line, n.Column, "anchors (&) and aliases (*) are not used in a matrix; write the value out")
	case n.Style&yaml.TaggedStyle != 0:
		return s.errorf(n.Line, n.Column, "the tag %s is not used in a matrix; remove it", n.Tag)
	}
	for _, child := range n.Content {
		if err := s.checkNode(child); err != nil {
			return err
		}
	}
	return nil
}

var (
	yamlError     = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)
	unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
)

// grammarErrors are the parser's messages whose line is given counted from 0;
// all others count from 1.
var grammarErrors = []string{
	"did not find expected node content",
	"did not find expected ',' or ']'",
	"did not find expected ',' or '}'",
	"did not find expected '-' indicator",
	"did not find expected key",
	"did not find expected <document start>",
}

// syntaxError points at the line that the parser's message names. The parser
// tells no column: it is that of the first character of the line.
func (s *source) syntaxError(err error) *Error {
	parts := yamlError.FindStringSubmatch(err.Error())
	if parts == nil {
		return s.errorf(1, 1, "not YAML: %v", err)
	}
	line, _ := strconv.Atoi(parts[1]) // no line in the message stands for the first
	msg := parts[2]
	if slices.Contains(grammarErrors, msg) || line == 0 {
		line++
	}
	if name := unknownAnchor.FindStringSubmatch(msg); name != nil {
		line = s.lineOf("*" + name[1])
		msg = "anchors (&) and aliases (*) are not used in a matrix; write the value out"
	} else {
		msg = "not YAML: " + msg + "; check quotes, brackets and the indentation here and in the line before"
	}
	text := s.lines[min(line, len(s.lines))-1]
	column := 1 + len(text) - len(strings.TrimLeft(text, " "))
	return s.errorf(line, column, "%s", msg)
}

// lineOf is the number of the first line that holds word.
func (s *source) lineOf(word string) int {
	before, _, _ := strings.Cut(s.text, word)
	return 1 + strings.Count(before, "\n")
}
