package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/internal/disk"
	"github.com/golops/golops/trace"
)

// tracing records the ranks of this process if GOLOPS_TRACE is set.
type tracing struct {
	c      Config
	t      trace.Config
	suffix string // of the file name, to keep traces of one process apart

	mu     sync.Mutex
	tracks []trace.Track
}

func newTracing(c Config, suffix string) (*tracing, error) {
	t, err := trace.FromEnv()
	return &tracing{c: c, t: t, suffix: suffix}, err
}

// wrap returns p with recording. All ranks start their clocks at a barrier, so that their
// tracks are aligned. The track is kept if p fails.
func (t *tracing) wrap(p func(context.Context, *comm.Comm) error) func(context.Context, *comm.Comm) error {
	if t.t.Mode == trace.Off {
		return p
	}
	return func(ctx context.Context, c *comm.Comm) error {
		if err := t.tryAll(ctx, c); err != nil {
			return err
		}
		rec := trace.NewRecorder(c.Rank())
		defer func() {
			rec.Close()
			t.mu.Lock()
			t.tracks = append(t.tracks, rec.Events())
			t.mu.Unlock()
		}()
		if err := c.Barrier(ctx); err != nil {
			return err
		}
		rec.Epoch()
		return p(trace.With(ctx, rec), c)
	}
}

// writeHere writes the tracks of this process's ranks.
func (t *tracing) writeHere() error {
	if t.t.Mode == trace.Off || len(t.tracks) == 0 {
		return nil
	}
	return t.write(t.tracks)
}

// writeAll gathers the tracks of all processes on rank 0 and writes them there.
func (t *tracing) writeAll(ctx context.Context, c *comm.Comm) error {
	if t.t.Mode == trace.Off {
		return nil
	}
	tracks, err := comm.GatherObjects(ctx, c, t.tracks[0], 0)
	if err != nil || c.Rank() != 0 {
		return err
	}
	return t.write(tracks)
}

func (t *tracing) write(tracks []trace.Track) error {
	if t.t.File == "" {
		return t.t.Write(t.c.traceOut(), tracks)
	}
	if err := t.failed(disk.Save(t.file(), func(w io.Writer) error { return t.t.Write(w, tracks) })); err != nil {
		return err
	}
	t.c.log().Info("trace written", "file", t.file(), "ranks", len(tracks))
	return nil
}

// try returns a *UsageError if the trace file cannot be written. It is called before the
// run.
func (t *tracing) try() error {
	if t.t.File == "" {
		return nil
	}
	if err := t.failed(disk.Try(t.file())); err != nil {
		return &UsageError{err}
	}
	return nil
}

// tryAll is try on rank 0. All ranks return an error or none does. It is
// collective.
func (t *tracing) tryAll(ctx context.Context, c *comm.Comm) error {
	var fault error
	if c.Rank() == 0 {
		fault = t.try()
	}
	err := comm.Agree(ctx, c, fault)
	if fault == nil && errors.As(err, new(*comm.RankError)) {
		return &UsageError{err}
	}
	return err
}

// file returns the name of the trace file.
func (t *tracing) file() string {
	ext := filepath.Ext(t.t.File)
	return strings.TrimSuffix(t.t.File, ext) + t.suffix + ext
}

// failed adds the file name to err.
func (t *tracing) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("launch: write trace %s, as %s asks for: %w", t.file(), trace.EnvVar, err)
}

type worldKey struct{}

// inWorld reports whether ctx is that of a rank that World started.
func inWorld(ctx context.Context) bool { return ctx.Value(worldKey{}) != nil }
