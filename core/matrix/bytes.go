package matrix

// ParseBytes reads a number of bytes the way a matrix file spells it: 1024,
// 64B, 16KiB, 1MiB.
func ParseBytes(text string) (int, error) { return byteCount(text) }
