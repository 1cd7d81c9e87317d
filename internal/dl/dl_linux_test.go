package dl_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/golops/golops/internal/dl"
)

// The yardstick is a C library built here: libc has no function of 15 integers.
const source = `
#include <stdlib.h>
long mix(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, long m, long n, long o) {
	return a + 2*b + 3*c + 4*d + 5*e + 6*f + 7*g + 8*h + 9*i + 10*j + 11*k + 12*l + 13*m + 14*n + 15*o;
}
/* A store that faults if the stack is not aligned to 16 bytes. */
long wider(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, long m, long n, long o) {
	volatile __attribute__((aligned(16))) long room[4] = {a, b, n, o};
	return room[0] == 1 && room[3] == 15 && (long)room % 16 == 0 ? 0x123456789abcdef0 : 0;
}
long last(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, long m, long n, long o, long p, long q, long r) {
	return p + 10*q + 100*r;
}
int negative(void) { return -7; }
void twice(double *p, int n) { for (int i = 0; i < n; i++) p[i] *= 2; }
const char *env(void) { return getenv("GOLOPS_DL_TEST"); }
int equals(const char *s) { const char *e = env(); if (!e) return 2; while (*s && *s == *e) s++, e++; return *s == *e; }
int answer = 42;
int back(int (*f)(int), int n) { return f(n) + 7; }
struct block { char bytes[128]; };
int value(int *out, int n, struct block b, int r, const char *same) {
	*out = n + r;
	for (int i = 0; i < 128; i++) if (b.bytes[i] != same[i]) return i + 1;
	return 0;
}
unsigned long wide(void) { return 0x123456789abcdef0; }
`

func build(t testing.TB) *dl.Lib {
	t.Helper()
	dir := t.TempDir()
	c, so := filepath.Join(dir, "m.c"), filepath.Join(dir, "libm_test.so")
	if err := os.WriteFile(c, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-O1", "-shared", "-fPIC", "-o", so, c).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	l, err := dl.Open(dl.Local, "libnot_there.so.9", so)
	if err != nil {
		t.Fatal(err)
	}
	if l.Path != so {
		t.Errorf("path %q, want %q", l.Path, so)
	}
	return l
}

func TestCall(t *testing.T) {
	l := build(t)
	if got := l.Func("mix").Call(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); got != 1240 {
		t.Errorf("mix of 15 arguments is %d, want 1240", got)
	}
	if got := l.Func("wider").CallPointer(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); got != 0x123456789abcdef0 {
		t.Errorf("a result of 64 bits after 15 arguments is %#x", got)
	}
	if got := l.Func("negative").Call(); got != -7 {
		t.Errorf("negative is %d, want -7", got)
	}
	if dl.MaxArgs >= 18 {
		if got := l.Func("last").Call(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 1, 2, 3); got != 321 {
			t.Errorf("the last of 18 arguments are %d, want 321", got)
		}
	}
	x := []float64{1, 2, 3}
	l.Func("twice").Call(dl.Pointer(&x[0]), uintptr(len(x)))
	if x[0] != 2 || x[2] != 6 {
		t.Errorf("twice gave %v", x)
	}
	if a := l.Addr("answer"); *(*int32)(*(*unsafe.Pointer)(unsafe.Pointer(&a))) != 42 {
		t.Error("data symbol has another value than 42")
	}
	if l.Func("not_there") != 0 {
		t.Error("a function that is not there has an address")
	}
	if got := l.Func("wide").CallPointer(); got != 0x123456789abcdef0 {
		t.Errorf("a result of 64 bits is %#x", got)
	}
	// On amd64 a struct by value is words on the stack, after all registers.
	if runtime.GOARCH == "amd64" {
		var block [16]uintptr
		for i := range block {
			block[i] = uintptr(i) * 0x0102030405060708
		}
		out := new(int32)
		args := append([]uintptr{dl.Pointer(out), 4, 3, dl.Pointer(&block[0]), 0, 0}, block[:]...)
		if got := l.Func("value").CallWide(args...); got != 0 || *out != 7 {
			t.Errorf("a struct by value: byte %d differs, n + r = %d, want 7", got-1, *out)
		}
	}
	mix := l.Func("mix")
	if n := testing.AllocsPerRun(100, func() { mix.Call(1, 2, 3, 4, 5, 6, 7, 8) }); n != 0 {
		t.Errorf("%g allocations per call", n)
	}
}

// TestCallback lets C call Go back while the stack of the calling goroutine is
// small, so that the callback makes it grow and move.
func TestCallback(t *testing.T) {
	l := build(t)
	f := dl.Callback(func(n uintptr) uintptr { return uintptr(deep(int(n))) })
	for range 20 {
		done := make(chan int32)
		go func() { done <- l.Func("back").Call(f, 200) }()
		if got := <-done; got != 207 {
			t.Fatalf("C that calls back returns %d, want 207", got)
		}
	}
}

// deep uses a lot of stack and returns n.
func deep(n int) int {
	var room [1024]byte
	if n == 0 {
		return int(room[0])
	}
	return deep(n-1) + 1 + int(room[n])
}

func TestSetenv(t *testing.T) {
	l := build(t)
	if err := dl.Setenv("GOLOPS_DL_TEST", "seen by C"); err != nil {
		t.Fatal(err)
	}
	s := []byte("seen by C\x00")
	if got := l.Func("equals").Call(dl.Pointer(&s[0])); got != 1 {
		t.Errorf("C does not see the variable: %d", got)
	}
	if err := dl.Setenv("GOLOPS_DL_TEST", "other"); err != nil {
		t.Fatal(err)
	}
	if got := os.Getenv("GOLOPS_DL_TEST"); got != "seen by C" {
		t.Errorf("a value already set was replaced by %q", got)
	}
}

func TestOpenSaysWhyNot(t *testing.T) {
	_, err := dl.Open(dl.Local, "libnot_there.so.9", "/no/such/lib.so")
	if err == nil {
		t.Fatal("opened a library that is not there")
	}
	for _, want := range []string{"libnot_there.so.9", "/no/such/lib.so"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error does not name %s: %v", want, err)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	f := build(b).Func("negative")
	b.ReportAllocs()
	for b.Loop() {
		f.Call()
	}
}

// The loader keeps its error for each thread, and goroutines change threads at any call.
func TestReasonsOfManyGoroutines(t *testing.T) {
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 500 {
				_, err := dl.Open(dl.Local, "libnot_there.so.9")
				if got, want := dl.Reason(err, []string{"libnot_there.so.9"}), "libnot_there.so.9 not found"; got != want {
					t.Errorf("the reason is %q, want %q", got, want)
					return
				}
				runtime.Gosched()
			}
		})
	}
	all.Wait()
}
