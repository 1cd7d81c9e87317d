//go:build !linux

package dl

import "os"

// MaxArgs is the largest number of arguments that Call passes on Linux.
const MaxArgs = 18

// Open returns the error of NeedsLinux.
func Open(Scope, ...string) (*Lib, error) { return nil, NeedsLinux("native libraries") }

// Close has nothing to unload.
func (l *Lib) Close() error { return nil }

// Addr returns 0: no library is open.
func (l *Lib) Addr(string) uintptr { return 0 }

// Call panics, as every call of a function that a library lacks.
func (f Func) Call(...uintptr) int32 { panic(noFunc) }

// CallPointer panics as Call does.
func (f Func) CallPointer(...uintptr) uintptr { panic(noFunc) }

// CallWide panics as Call does.
func (f Func) CallWide(...uintptr) int32 { panic(noFunc) }

// Callback returns 0: there is no C to call it.
func Callback(any) uintptr { return 0 }

// Setenv sets a variable that the user has not set. No C library reads it.
func Setenv(key, value string) error {
	if _, set := os.LookupEnv(key); set {
		return nil
	}
	return os.Setenv(key, value)
}
