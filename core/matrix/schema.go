package matrix

import _ "embed"

//go:embed matrix.schema.json
var schema []byte

// Schema is the JSON Schema (draft 7) of a matrix file, for editors. It knows
// keys and values; what only the whole file tells, such as names of runtimes and
// limits over several axes, it leaves to Parse.
func Schema() []byte { return append([]byte(nil), schema...) }
