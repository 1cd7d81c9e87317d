package gpu

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/scalar"
)

// Config selects a GPU and the folders of its libraries and kernels.
type Config struct {
	Index int // of the device among those that this process sees
	// Folder is searched for libraries before the places that Platform lists. It
	// may be a list with colons between folders. "" means none.
	Folder string
	// Cache is the folder of compiled kernels. "" means golops/kernels in the user's
	// cache folder. "off" means none.
	Cache string
}

// Validate reports what is wrong with the options. Only New finds out whether the
// device exists.
func (c Config) Validate() error {
	if c.Index < 0 {
		return fmt.Errorf("device number %d must not be negative", c.Index)
	}
	return nil
}

// Device is one GPU. It belongs to one rank and is used by one goroutine at a
// time.
//
// All kernels run on one stream, in the order of their launches. Freed memory can
// therefore be reused at once by kernels launched later.
type Device struct {
	p       *Platform
	drv     *driver
	rtc     *compiler // nil until something is compiled
	info    Info
	can     device.Info
	cache   string
	device  int32
	context uintptr
	current uintptr // the argument of SetCurrent
	stream  uintptr

	modules map[string]uintptr
	params  uintptr // the address of the address of args
	args    *[argsSize / 8]uint64
	argsAt  *uintptr

	pool      pool
	reclaimed reclaimList
	sums      sums
	blas      blas
	fft       fft
	staging   staging
	queues    []*Queue

	scratchAddr uintptr // what kernels leave to the next; see room
	scratchSize int

	onWait []*func() error

	busy   bool  // work may be under way
	err    error // the first unreported failure
	closed bool

	f32  *kernels[float32, float32]
	f64  *kernels[float64, float64]
	c64  *kernels[complex64, float32]
	c128 *kernels[complex128, float64]
}

var _ device.Accelerator = (*Device)(nil)

// New opens a device. Close frees everything that it holds.
func New(p *Platform, cfg Config) (*Device, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("%s: new device: %w", p.Name, err)
	}
	drv, err := openDriver(p, cfg.Folder)
	if err != nil {
		return nil, err
	}
	n, err := drv.count()
	if err != nil {
		return nil, err
	}
	if cfg.Index >= n {
		return nil, fmt.Errorf("%s: there is no device %d: this process sees %d, numbered from 0", p.Name, cfg.Index, n)
	}
	d := &Device{p: p, drv: drv, cache: cacheFolder(cfg.Cache), modules: map[string]uintptr{}}
	if err := d.open(cfg.Index); err != nil {
		d.Close()
		return nil, fmt.Errorf("%s: open device %d: %w", p.Name, cfg.Index, err)
	}
	d.can = device.Info{
		Platform: p.Name, Index: cfg.Index, Memory: d.Memory, OnWait: d.OnWait, AsyncSums: true,
	}
	d.f32 = newKernels[float32, float32](d)
	d.f64 = newKernels[float64, float64](d)
	d.c64 = newKernels[complex64, float32](d)
	d.c128 = newKernels[complex128, float64](d)
	return d, nil
}

func (d *Device) open(index int) error {
	var err error
	if d.info, err = d.drv.info(index); err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	dev := new(int32)
	if r := d.drv.Device.Call(dl.Pointer(dev), uintptr(index)); r != ok {
		return d.drv.fault(r)
	}
	d.device = *dev
	h := new(uintptr)
	if err := d.drv.keepContext(d.device); err != nil {
		return err
	}
	if r := d.drv.Retain.Call(dl.Pointer(h), uintptr(d.device)); r != ok {
		return fmt.Errorf("its context: %w", d.drv.fault(r))
	}
	d.context, d.current = *h, *h
	if d.p.byIndex {
		d.current = uintptr(index)
	}
	if err := d.Bind(); err != nil {
		return err
	}
	if r := d.drv.StreamCreate.Call(dl.Pointer(h), nonBlocking); r != ok {
		return fmt.Errorf("a stream: %w", d.drv.fault(r))
	}
	d.stream = *h
	d.args, d.argsAt = new([argsSize / 8]uint64), new(uintptr)
	*d.argsAt = dl.Pointer(&d.args[0])
	d.params = dl.Pointer(d.argsAt)
	d.pool.init()
	return d.openSums()
}

// enter makes the device current on the calling thread and locks the goroutine to
// that thread until leave. It costs some 0.1 µs, less than asking whether the device
// is current already.
func (d *Device) enter() {
	runtime.LockOSThread()
	if r := d.drv.SetCurrent.Call(d.current); r != ok {
		d.fail(fmt.Errorf("make %v current: %w", d, d.drv.fault(r)))
	}
}

func (d *Device) leave() { runtime.UnlockOSThread() }

// fail records the first failure of a call that returns no error.
func (d *Device) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// takeErr returns and clears the first unreported failure. A failed kernel breaks
// the context, so later calls fail again. ErrClosed is never cleared.
func (d *Device) takeErr() error {
	err := d.err
	if !d.closed {
		d.err = nil
	}
	return err
}

// unsupported records the failure of a kernel that this platform lacks.
func (d *Device) unsupported(kernel string, dt scalar.DType) {
	d.fail(fmt.Errorf("%s: kernel %s of %v: %w", d.p.Name, kernel, dt, device.ErrUnsupported))
}

// String names the device.
func (d *Device) String() string {
	return fmt.Sprintf("%s:%d (%s)", d.p.Name, d.info.Index, d.info.Name)
}

// Platform implements device.Accelerator.
func (d *Device) Platform() string { return d.p.Name }

// Index implements device.Accelerator.
func (d *Device) Index() int { return d.info.Index }

// Info implements device.Device.
func (d *Device) Info() device.Info { return d.can }

// Bind implements device.Accelerator.
func (d *Device) Bind() error {
	if r := d.drv.SetCurrent.Call(d.current); r != ok {
		return fmt.Errorf("make %v current: %w", d, d.drv.fault(r))
	}
	return nil
}

// Kernels returns the kernels of an element type, nil for integers.
func (d *Device) Kernels(dt scalar.DType) any {
	switch dt {
	case scalar.Float32:
		return d.f32
	case scalar.Float64:
		return d.f64
	case scalar.Complex64:
		return d.c64
	case scalar.Complex128:
		return d.c128
	}
	return nil
}

// Sync waits for all kernels. If ctx ends first it returns the cause.
func (d *Device) Sync(ctx context.Context) error {
	if err := d.wait(ctx, target{}); err != nil {
		return err
	}
	return d.takeErr()
}

// Close waits for kernels and frees everything. It returns the first unreported
// failure.
func (d *Device) Close() error {
	if d.closed || d.context == 0 {
		return nil
	}
	d.closed = true
	failed := d.err
	if d.stream != 0 && failed == nil {
		failed = d.wait(context.Background(), target{})
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := d.Bind(); err != nil {
		failed = errors.Join(failed, err)
	}
	for len(d.queues) > 0 {
		failed = errors.Join(failed, d.queues[0].Close())
	}
	d.blas.close()
	d.fft.close()
	for _, m := range d.modules {
		d.drv.ModuleUnload.Call(m)
	}
	d.closeStaging()
	d.freeAll()
	if d.stream != 0 {
		d.drv.StreamDestroy.Call(d.stream)
	}
	if r := d.drv.Release.Call(uintptr(d.device)); r != ok {
		failed = errors.Join(failed, fmt.Errorf("%s: release device %d: %w", d.p.Name, d.info.Index, d.drv.fault(r)))
	}
	d.context = 0
	d.err = fmt.Errorf("%s: device %d: %w", d.p.Name, d.info.Index, device.ErrClosed)
	return failed
}

// hostBytes returns n bytes of C memory as a slice.
func hostBytes(addr uintptr, n int) []byte {
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&addr))), n)
}
