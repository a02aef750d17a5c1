package matrix

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// rest is a suite without fault, for files that are wrong before it.
const rest = "suites: {s: {protocol: tcp, payload: 64, clients: 1, window: 1}}\n"

// wrongFiles are wrong in one way each. The sign ¦ stands where the error must
// point; it is taken out before parsing.
var wrongFiles = []struct{ name, src, want string }{
	// the text
	{"tab", head + "suites:\n¦\ts: {}\n", "a tab in the indentation; indent with spaces"},
	{"not UTF-8", head + "# ¦\xff\n", "byte 0xff is not UTF-8 text"},
	{"binary", "¦\x00\x01\x02\x7fELF", "the character U+0000 does not belong"},
	{"line separator", head + "# a¦\u2028b\n", "U+2028"},
	{"empty", "¦", "the file is empty"},
	{"comments only", "¦# nothing\n", "the file is empty"},

	// YAML
	{"open bracket", head + "suites:\n  s:\n    ¦payload: [64, 1024\n    clients: 1\n", "not YAML: did not find expected ',' or ']'"},
	{"bad indentation", head + "suites:\n  a: 1\n   ¦b: 2\n", "not YAML: mapping values are not allowed"},
	{"odd list", "a:\n  - 1\n ¦- 2\n", "not YAML: did not find expected key"},
	{"forbidden start", head + "¦baseline: @x\n", "not YAML: found character that cannot start any token"},
	{"deep nesting", "¦" + strings.Repeat("[", 100_000), "not YAML: exceeded max depth"},
	{"second document", head + rest + "¦---\nversion: 1\n", "a second document"},
	{"anchor", head + "suites: ¦&all {s: {payload: 64}}\n", "anchors (&) and aliases (*) are not used"},
	{"alias to itself", head + "suites: ¦&a [*a]\n", "anchors (&) and aliases (*) are not used"},
	{"alias to nothing", head + "¦suites: *none\n", "anchors (&) and aliases (*) are not used"},
	{"behind the end", "---¦", "the file is empty; write a mapping"},
	{"tag", head + "suites: {s: {payload: ¦!!str 64}}\n", "the tag !!str is not used"},
	{"odd key", "¦0::", `unknown key "0:"`},
	{"key that is a list", "? ¦[a, b]\n: c\n", "a key of the file is a list"},
	{"scalar", "¦hello", `the file is "hello"; write a mapping`},
	{"list", "¦- version: 1", "the file is a list; write a mapping"},

	// keys
	{"missing version", "¦runtimes: {a: {plugin: b}}\n", "the file has no version; add version: …"},
	{"other version", "version: ¦2\nruntimes: {a: {plugin: b}}\n" + rest, `version "2" of the file format is not known here; write version: 1`},
	{"unknown key", head + "¦suite: {}\n", `unknown key "suite" in the file; did you mean "suites"?`},
	{"unknown key in a suite", suite("¦cleints: 5"), `unknown key "cleints" in suite "s"; did you mean "clients"?`},
	{"unknown key far from all", suite("¦zebra: 5"), `unknown key "zebra" in suite "s"; use one of: question,`},
	{"misspelt override", suite("¦overide: [{when: {payload: 64}, set: {work: 1}}]"), `did you mean "override"?`},
	{"unknown key in defaults", head + "defaults: {¦warm_up: 1s}\n" + rest, `did you mean "warmup"?`},
	{"unknown key in load", head + "load: {¦thread: 1}\n" + rest, `unknown key "thread" in load; did you mean "threads"?`},
	{"no space after the colon", suite("t: [{¦work:1, rate: 2}]"), "put a space after the colon"},
	{"duplicate key", head + "suites:\n  s:\n    payload: [64]\n    protocol: tcp\n    ¦payload: [1024]\n",
		`duplicate key "payload" in suite "s", first on line 5 and again on line 7; keep one`},
	{"merge key", suite("¦<<: {work: 1}"), `unknown key "<<"`},
	{"empty value", suite("work: ¦~"), "work has no value"},
	{"empty mapping", head + "suites: ¦{}\n", "suites is an empty mapping"},

	// numbers
	{"leading zero", suite("work: ¦010"), "work: 010 is octal to some readers of YAML and decimal to others; write 10"},
	{"hexadecimal", suite("work: ¦0x10"), "work: 0x10 is not in plain decimal digits; write 16"},
	{"octal", suite("work: ¦0o10"), "write 8"},
	{"binary digits", suite("work: ¦0b10"), "write 2"},
	{"underscore", suite("work: ¦1_000"), "write 1000"},
	{"exponent", suite("work: ¦1e3"), "write 1000"},
	{"sign", suite("work: ¦+5"), "write 5"},
	{"negative", suite("work: ¦-5"), "-5 is below 0"},
	{"fraction", suite("threads: ¦1.5"), `"1.5" is no whole number; write 1 or 2`},
	{"fraction without digits before", suite("work: ¦.5"), "no whole number"},
	{"fraction of zero", suite("work: ¦1.0"), "write 1"},
	{"word for a number", suite("work: ¦many"), `"many" is no number`},
	{"infinity", suite("work: ¦.inf"), "is no number"},
	{"quoted", suite("work: ¦'64'"), "work is text in quotes; write the bare value: 64"},
	{"too large", suite("work: ¦99999999999999999999"), "too large"},
	{"rate", suite("rate: ¦1e3"), "rate: \"1e3\" is not in plain decimal digits; write 1000"},
	{"bytes in other units", head + "defaults: {payload: ¦16kb}\n" + rest, "write whole bytes (16384) or whole KiB or MiB"},
	{"bytes with a space", head + "defaults: {payload: ¦16 KiB}\n" + rest, "without a space"},
	{"bytes beyond int", head + "defaults: {payload: ¦9223372036854775807MiB}\n" + rest, "too large"},

	// times
	{"bare number for a time", suite("warmup: ¦250"), `warmup: "250" is a bare number; write its unit: 250ms or 250s`},
	{"zero without unit", suite("warmup: ¦0"), "bare number"},
	{"unknown unit", suite("measure: ¦1min"), `"1min" is no duration; write it like 250ms, 1s or 1m30s`},
	{"negative time", suite("measure: ¦-1s"), "no duration"},
	{"time with leading zero", suite("measure: ¦010s"), "begins with a zero; write 10s"},
	{"no time at all", suite("measure: ¦0s"), "lies outside 1ms to 1h0m0s"},
	{"long time", suite("warmup: ¦48h"), "lies outside 0s to 1h0m0s"},

	// values
	{"unknown protocol", head + "suites: {s: {protocol: [tcp, ¦upd]}}\n", `protocol: "upd" is none of tcp, udp, websocket, tcps, wss, http, https; did you mean "udp"?`},
	{"empty list", suite("work: ¦[]"), "work is an empty list; put a value in or remove the key"},
	{"list in a list", suite("work: [¦[1]]"), "work is a list; write a single value"},
	{"mapping for a value", suite("work: ¦{a: 1}"), "work is a mapping; write a single value"},
	{"rounds", suite("rounds: ¦0"), "rounds: 0 lies outside 1 to 1000"},
	{"twin", suite("twin: ¦maybe"), `twin: "maybe" is none of true, false`},
	{"delta without a unit", suite("delta: ¦0.03"), `delta: "0.03" has no unit; write per cent, such as 3%`},
	{"no delta at all", suite("delta: ¦0%"), "delta: 0% lies outside 0% to 50%; write at least 0.1%"},
	{"large delta", suite("delta: ¦51%"), "delta: 51% lies outside 0% to 50%"},
	{"repeats", suite("repeats: ¦3"), "repeats: 3 lies outside 0 to 2"},
	{"contrast", suite("contrast: ¦payload"), `contrast: "payload" is none of contender, execution`},
	{"question", suite("question: ¦\"a\\nb\""), "question has more than one line"},
	{"buffers", suite("buffers: {send: ¦2048MiB}"), "lies outside 0 to 1073741824"},
	{"payload under the header", suite("a: [{work: 0, rate: 0}], override: [{when: {work: 0}, set: {payload: ¦15}}]"), "payload: 15 lies outside 16 to"},
	{"datagram too large", head + "suites: {s: {protocol: [tcp, udp], clients: 1, window: 1, payload: [64, ¦65508]}}\n", "at most 65507 bytes"},
	{"too much in flight", head + "suites: {s: {protocol: tcp, clients: 1024, window: 16, payload: [64, ¦1MiB]}}\n", "over the limit of 256 MiB"},
	{"value from defaults", head + "defaults: {threads: ¦1000}\n" + rest, "threads: 1000 lies outside 1 to 256"},
	{"batch over udp", suite("pattern: ¦batch, override: [{when: {work: 0}, set: {protocol: udp}}]"), "batch goes with tcp and tcps only"},

	// runtimes
	{"unknown runtime in a suite", head + "suites: {s: {runtime: ¦rawpol}}\n", `runtime "rawpol" is not among runtimes; did you mean "rawpoll"?`},
	{"unknown runtime in the baseline", head + "baseline: {runtime: ¦gnet, execution: callback}\n" + rest, `runtime "gnet" is not among runtimes; use one of: rawpoll, coroutine`},
	{"unknown runtime in load", head + "load: {runtime: ¦epoll}\n" + rest, `runtime "epoll" is not among runtimes`},
	{"unknown runtime in when", suite("exclude: [{when: {runtime: ¦raw}, why: x}]"), `runtime "raw" is not among runtimes`},
	{"half a baseline", head + "baseline: ¦{runtime: rawpoll}\n" + rest, "baseline needs both keys"},
	{"no built-in baseline", "version: 1\nruntimes: ¦{rawpoll: {plugin: a}}\n" + rest, `runtime "coroutine" is not among runtimes, and it is used unless`},
	{"runtime without plugin", "version: 1\nruntimes: {a: {plugin: ¦}}\n" + rest, "plugin has no value"},
	{"name", "version: 1\nruntimes: {¦a/b: {plugin: b}}\n" + rest, `"a/b" is no name for a runtime`},
	{"suite name", head + "suites: {¦a b: {payload: 64}}\n", `"a b" is no name for a suite`},

	// load and CPUs
	{"threads of the load", head + "load: {threads: ¦0}\n" + rest, "threads (auto or a number): 0 lies outside 1 to 256"},
	{"wait of the load", head + "load: {wait: ¦spin}\n" + rest, `wait: "spin" is none of busy, sleep`},
	{"cpus", head + "cpus: ¦all\n" + rest, `cpus: "all" is none of its forms`},
	{"half of cpus", head + "cpus: ¦{server: [0]}\n" + rest, "cpus has no load"},
	{"a CPU twice", head + "cpus: {server: [0, ¦0], load: [1]}\n" + rest, "CPU 0 is in the list twice"},

	// suites as a whole
	{"nothing for an axis", head + "suites: {¦s: {protocol: tcp, payload: 64, clients: 1}}\n", `suite "s" has no window; add window: … to the suite or to defaults`},
	{"axis set twice", suite("¦traffic: [{clients: 1, work: 0}]"), `clients is set twice in suite "s", by "clients" on line 3 and by "traffic" on line 3`},
	{"coupled axes differ", suite("t: [{work: 1, rate: 0}, ¦{work: 2}]"), `the mappings of "t" do not set the same axes; the first sets work, rate`},
	{"unknown coupled axis", suite("t: [{¦wrk: 1}]"), `unknown key "wrk" in "t"; did you mean "work"?`},
	{"coupled list", suite("t: [{work: ¦[1, 2]}]"), "work is a list; write a single value"},
	{"override without set", suite("override: [¦{when: {work: 0}}]"), "an override needs both keys"},
	{"exclude without why", suite("exclude: [¦{when: {work: 0}}]"), "an exclude needs a condition and its reason"},
	{"exclude with an empty why", suite("exclude: [{when: {work: 0}, why: ¦\"\"}]"), "why has no value"},
	{"exclude of everything", suite("exclude: [{when: ¦{}, why: x}]"), "when is an empty mapping"},
	{"nothing left", strings.Replace(suite("exclude: [{when: {work: 0}, why: x}]"), "{s:", "{¦s:", 1), `every cell of suite "s" is excluded`},
}

func TestErrors(t *testing.T) {
	for _, tt := range wrongFiles {
		t.Run(tt.name, func(t *testing.T) {
			before, after, _ := strings.Cut(tt.src, "¦")
			line := 1 + strings.Count(before, "\n")
			column := 1 + len([]rune(before[strings.LastIndex(before, "\n")+1:]))
			_, err := Parse("matrix.yaml", []byte(before+after))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want an *Error", err)
			}
			if e.Line != line || e.Column != column || e.File != "matrix.yaml" || !strings.Contains(e.Msg, tt.want) {
				t.Errorf("got %v\nwant %d:%d: …%s…", err, line, column, tt.want)
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"short line", "version: 1\nruntimes: {a: {plugin: b}}\nsuites: {}\nloda: {}\n",
			"m.yaml:4:1: unknown key \"loda\" in the file; did you mean \"load\"?\nloda: {}\n^"},
		{"CRLF", "version: 1\r\n# é\r\nruntimes: {é: {}}\r\nsuites: {a: 1}\r\n",
			"m.yaml:3:12: \"é\" is no name for a runtime; use letters, digits, - _ and ., a letter or digit first\nruntimes: {é: {}}\n           ^"},
		{"far right", "version: 1\nruntimes: {" + strings.Repeat("a", 300) + ": {}}\nsuites: {a: {x: 1}}\n",
			"m.yaml:2:12: \"" + strings.Repeat("a", 48) + "…\" is no name for a runtime; use letters, digits, - _ and ., a letter or digit first\n" +
				"runtimes: {" + strings.Repeat("a", 89) + "\n           ^"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("m.yaml", []byte(tt.src))
			if err == nil || err.Error() != tt.want {
				t.Errorf("got\n%v\nwant\n%s", err, tt.want)
			}
		})
	}
}

// A caret stays under its column when the line is cut on the left.
func TestExcerpt(t *testing.T) {
	got := excerpt(strings.Repeat("a", 200)+"X"+strings.Repeat("b", 200), 201)
	line, caret, _ := strings.Cut(got, "\n")
	if len(line) != 100 || line[len(caret)-1] != 'X' {
		t.Errorf("got\n%s", got)
	}
}

// What would take long or much is refused before it does.
func TestBounds(t *testing.T) {
	ten := "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"
	million := head + "suites: {s: {runtime: rawpoll, execution: callback, protocol: tcp, payload: 64, clients: " + ten + ", window: " + ten +
		", work: " + ten + ", rate: " + ten + ", threads: " + ten + ", a: [" + strings.Repeat("{io_model: shared}, ", 10) + "]}}\n"
	long := "[0" + strings.Repeat(", 0", 9999) + "]"
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := range 8 {
		bomb.WriteString(strings.ReplaceAll("a2: &a2 [*a1, *a1, *a1, *a1, *a1, *a1, *a1, *a1, *a1]\n", "a1", string(rune('b'+i))))
	}
	for _, tt := range []struct{ name, src, want string }{
		{"a million cells", million, `suite "s" asks for 1000000 cells`},
		{"more cells than an integer counts", suite("work: " + long + ", rate: " + long + ", threads: " + long + ", io_model: [" +
			strings.Repeat("shared, ", 10000) + "]"), "at most 100000"},
		{"many suites", head + "defaults: {protocol: tcp, payload: 64, clients: 1, window: 1, work: " + long + "}\nsuites:\n" +
			"  a: {rate: [1, 2]}\n  b: {rate: [1, 2]}\n  c: {rate: [1, 2]}\n", `suite "b" asks for 80000 cells, which makes 160000 so far`},
		{"alias bomb", bomb.String(), "anchors (&) and aliases (*)"},
		{"deep block nesting", strings.Repeat("- ", 100_000), "exceeded max depth"},
		{"deep mappings", strings.Repeat("{a: ", 60_000), "exceeded max depth"},
		{"nested as deep as the parser goes", strings.Repeat("[", 9999) + strings.Repeat("]", 9999), "the file is a list"},
		{"a long junk key", "? " + strings.Repeat("a", 200_000) + "\n: 1", "unknown key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Now()
			_, err := Parse("matrix.yaml", []byte(tt.src))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %.300v, want …%s…", err, tt.want)
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}
