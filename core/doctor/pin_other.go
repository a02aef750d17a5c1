//go:build !linux

package doctor

// pin does nothing: threads cannot be bound here.
func pin(int) (unpin func()) { return func() {} }
