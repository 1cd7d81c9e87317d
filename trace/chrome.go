package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// chromePID is the process of all ranks, which appear as its threads. One process per
// rank would add a second row above each track. Numbers start at 1, because Perfetto
// treats process and thread 0 as the idle task.
const chromePID = 1

// gpuThread is the thread of the device of rank 0, far behind those of all ranks.
const gpuThread = 1 << 24

// WriteChrome writes the tracks as a Chrome trace, in the JSON object form
// that Perfetto opens, one track per rank. Regions are complete events, marks are
// instants, messages between ranks are arrows. The time in which a rank waits for another
// is a bar below the call. Work of a device is a track below that of its rank. A bar cannot extend past its parent: a region that ended after its parent is
// cut there, and its true length is one of its arguments. If events lie before Epoch,
// all tracks are shifted together, since Perfetto rejects negative times.
func WriteChrome(w io.Writer, tracks []Track) error {
	tracks, err := ordered(tracks)
	if err != nil {
		return err
	}
	c := chromeWriter{out: bufio.NewWriter(w), sep: "\n", quoted: make(map[string]string)}
	dropped := 0
	for _, t := range tracks {
		dropped += t.Dropped
		if len(t.Events) > 0 {
			c.shift = max(c.shift, -t.Events[0].Start)
		}
	}
	c.out.WriteString(`{"traceEvents":[`)
	c.event(fmt.Sprintf(`"name":"process_name","ph":"M","pid":%d,"args":{"name":"golops"}`, chromePID))
	c.arrows = map[message]int{}
	idle := waits(tracks)
	for i, t := range tracks {
		c.track(t, idle[i])
		c.device(t)
	}
	fmt.Fprintf(c.out, "\n],\"displayTimeUnit\":\"ns\",\"otherData\":{\"ranks\":%d,\"dropped\":%d}}\n", len(tracks), dropped)
	if err := c.out.Flush(); err != nil {
		return fmt.Errorf("trace: write Chrome trace: %w", err)
	}
	return nil
}

// chromeWriter writes events one by one. Errors stay in out until its Flush.
type chromeWriter struct {
	out    *bufio.Writer
	sep    string // stands before the next event
	line   []byte // scratch
	shift  time.Duration
	quoted map[string]string // names as JSON; a program has few, used often
	arrows map[message]int   // numbers of messages
}

// event writes one object, given what is between its braces, in pieces.
func (c *chromeWriter) event(pieces ...string) {
	c.line = append(append(c.line[:0], c.sep...), '{')
	for _, p := range pieces {
		c.line = append(c.line, p...)
	}
	c.out.Write(append(c.line, '}'))
	c.sep = ",\n"
}

// bar writes a region as a bar. name is quoted.
func (c *chromeWriter) bar(name, kind, thread string, start, end time.Duration, args string) {
	b := append(append(c.line[:0], c.sep...), `{"name":`...)
	b = append(append(append(append(b, name...), kind...), thread...), `,"ts":`...)
	b = append(appendMicros(b, start+c.shift), `,"dur":`...)
	b = append(append(appendMicros(b, end-start), args...), '}')
	c.out.Write(b)
	c.line, c.sep = b, ",\n"
}

// track writes one rank's name, place and events.
func (c *chromeWriter) track(t Track, idle map[int]wait) {
	thread := c.thread(t.Rank+1, 2*t.Rank, fmt.Sprintf("rank %d", t.Rank))
	end := t.ends()
	final := -c.shift
	for i := range t.Events {
		e := &t.Events[i]
		final = max(final, e.End)
		if e.Mark && e.Call.Kind != 0 {
			c.arrow(thread, e)
			continue
		}
		if e.Mark {
			c.instant(thread, e.Name, e.Start)
			continue
		}
		name, args := e.Name, e.Call.args()
		switch {
		case e.Open:
			name, args = name+" (never ended)", `,"args":{"never_ended":true}`
		case end[i] < e.End:
			args = `,"args":{"outlived_parent":true,"true_dur_us":` + micros(e.End-e.Start) + `}`
		}
		c.bar(c.quote(name), `,"ph":"X"`, thread, e.Start, end[i], args)
		if w, ok := idle[i]; ok && min(w.until, end[i]) > e.Start {
			c.bar(c.quote(fmt.Sprintf("wait for rank %d", w.rank)), `,"cat":"wait","cname":"grey","ph":"X"`, thread, e.Start, min(w.until, end[i]), "")
		}
	}
	for _, note := range t.notes() {
		c.instant(thread, note, final)
	}
}

// thread names the track of a rank or of its device, and returns where it is.
func (c *chromeWriter) thread(id, place int, name string) string {
	thread := fmt.Sprintf(`,"pid":%d,"tid":%d`, chromePID, id)
	c.event(`"name":"thread_name","ph":"M"`, thread, `,"args":{"name":`, c.quote(name), `}`)
	c.event(`"name":"thread_sort_index","ph":"M"`, thread, fmt.Sprintf(`,"args":{"sort_index":%d}`, place))
	return thread
}

// device writes the work of a rank's device, if there was any.
func (c *chromeWriter) device(t Track) {
	thread := ""
	var end []time.Duration // of each region, as drawn
	for i := range t.Events {
		e := &t.Events[i]
		if !e.GPU {
			continue
		}
		if thread == "" {
			end = make([]time.Duration, len(t.Events))
			thread = c.thread(gpuThread+t.Rank, 2*t.Rank+1, fmt.Sprintf("GPU of rank %d", t.Rank))
		}
		end[i] = e.GPUEnd
		if e.Parent >= 0 && t.Events[e.Parent].GPU {
			end[i] = min(end[i], end[e.Parent])
		}
		if end[i] > e.GPUStart {
			c.bar(c.quote(e.Name), `,"ph":"X"`, thread, e.GPUStart, end[i], "")
		}
	}
}

// arrow writes one end of a message.
func (c *chromeWriter) arrow(thread string, e *Event) {
	m := e.Call.message()
	id, ok := c.arrows[m]
	if !ok {
		id = len(c.arrows) + 1
		c.arrows[m] = id
	}
	phase := `"ph":"s"`
	if e.Call.Kind == Received {
		phase = `"ph":"f","bp":"e"`
	}
	c.event(`"name":"message","cat":"message",`, phase, `,"id":`, strconv.Itoa(id), thread, `,"ts":`, micros(e.Start+c.shift))
}

// args shows the arguments of a call.
func (c Call) args() string {
	switch c.Kind {
	case 0:
		return ""
	case Collective:
		return fmt.Sprintf(`,"args":{"bytes":%d}`, c.Bytes)
	}
	return fmt.Sprintf(`,"args":{"bytes":%d,"peer":%d}`, c.Bytes, c.Peer)
}

// instant writes a point on a rank's track.
func (c *chromeWriter) instant(thread, name string, at time.Duration) {
	c.event(`"name":`, c.quote(name), `,"ph":"i","s":"t"`, thread, `,"ts":`, micros(at+c.shift))
}

// quote returns s as a JSON string. It leaves > and & alone, which
// json.Marshal would escape for HTML.
func (c *chromeWriter) quote(s string) string {
	q, ok := c.quoted[s]
	if !ok {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.Encode(s) // a string always encodes
		q = strings.TrimSuffix(b.String(), "\n")
		c.quoted[s] = q
	}
	return q
}

// micros returns d, not negative, in microseconds with all its nanoseconds,
// which a float64 would round on long runs.
func micros(d time.Duration) string { return string(appendMicros(nil, d)) }

func appendMicros(b []byte, d time.Duration) []byte {
	ns := d % time.Microsecond
	b = strconv.AppendInt(b, int64(d/time.Microsecond), 10)
	return append(b, '.', byte('0'+ns/100), byte('0'+ns/10%10), byte('0'+ns%10))
}
