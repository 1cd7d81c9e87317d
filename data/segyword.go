package data

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Word is an integer in a header of a SEG-Y file. Byte counts from 1, as the
// standard does: 1 to 240 in the header of a trace, 3201 to 3600 in the binary
// header of the file. Size is 1, 2 or 4 bytes. A program may use words that the
// standard does not name, such as Word{Name: "Line", Byte: 233, Size: 4}.
type Word struct {
	Name string
	Byte int
	Size int
}

// Words of a trace header in revision 1 of the standard. Words lists the others.
var (
	TraceSequenceLine   = Word{"TraceSequenceLine", 1, 4}
	TraceSequenceFile   = Word{"TraceSequenceFile", 5, 4}
	FieldRecord         = Word{"FieldRecord", 9, 4}
	TraceNumber         = Word{"TraceNumber", 13, 4}
	EnergySourcePoint   = Word{"EnergySourcePoint", 17, 4}
	CDP                 = Word{"CDP", 21, 4}
	CDPTrace            = Word{"CDPTrace", 25, 4}
	TraceIdentification = Word{"TraceIdentification", 29, 2}
	TraceOffset         = Word{"TraceOffset", 37, 4}
	GroupElevation      = Word{"GroupElevation", 41, 4}
	SourceElevation     = Word{"SourceElevation", 45, 4}
	SourceDepth         = Word{"SourceDepth", 49, 4}
	SourceWaterDepth    = Word{"SourceWaterDepth", 61, 4}
	GroupWaterDepth     = Word{"GroupWaterDepth", 65, 4}
	ElevationScalar     = Word{"ElevationScalar", 69, 2}
	CoordinateScalar    = Word{"CoordinateScalar", 71, 2}
	SourceX             = Word{"SourceX", 73, 4}
	SourceY             = Word{"SourceY", 77, 4}
	GroupX              = Word{"GroupX", 81, 4}
	GroupY              = Word{"GroupY", 85, 4}
	CoordinateUnits     = Word{"CoordinateUnits", 89, 2}
	DelayTime           = Word{"DelayTime", 109, 2}
	TraceSamples        = Word{"TraceSamples", 115, 2}
	TraceInterval       = Word{"TraceInterval", 117, 2}
	CDPX                = Word{"CDPX", 181, 4}
	CDPY                = Word{"CDPY", 185, 4}
	Inline              = Word{"Inline", 189, 4}
	Crossline           = Word{"Crossline", 193, 4}
	ShotPoint           = Word{"ShotPoint", 197, 4}
	ShotPointScalar     = Word{"ShotPointScalar", 201, 2}
)

// words lists all words of the standard by byte.
var words = [...]Word{
	TraceSequenceLine, TraceSequenceFile, FieldRecord, TraceNumber, EnergySourcePoint, CDP, CDPTrace,
	TraceIdentification, {"SummedTraces", 31, 2}, {"StackedTraces", 33, 2}, {"DataUse", 35, 2}, TraceOffset,
	GroupElevation, SourceElevation, SourceDepth, {"GroupDatum", 53, 4}, {"SourceDatum", 57, 4},
	SourceWaterDepth, GroupWaterDepth, ElevationScalar, CoordinateScalar, SourceX, SourceY, GroupX, GroupY,
	CoordinateUnits, {"WeatheringVelocity", 91, 2}, {"SubWeatheringVelocity", 93, 2},
	{"SourceUpholeTime", 95, 2}, {"GroupUpholeTime", 97, 2}, {"SourceStatic", 99, 2}, {"GroupStatic", 101, 2},
	{"TotalStatic", 103, 2}, {"LagTimeA", 105, 2}, {"LagTimeB", 107, 2}, DelayTime, {"MuteStart", 111, 2},
	{"MuteEnd", 113, 2}, TraceSamples, TraceInterval, {"GainType", 119, 2}, {"GainConstant", 121, 2},
	{"InitialGain", 123, 2}, {"Correlated", 125, 2}, {"SweepStart", 127, 2}, {"SweepEnd", 129, 2},
	{"SweepLength", 131, 2}, {"SweepType", 133, 2}, {"SweepTaperStart", 135, 2}, {"SweepTaperEnd", 137, 2},
	{"TaperType", 139, 2}, {"AliasFrequency", 141, 2}, {"AliasSlope", 143, 2}, {"NotchFrequency", 145, 2},
	{"NotchSlope", 147, 2}, {"LowCut", 149, 2}, {"HighCut", 151, 2}, {"LowCutSlope", 153, 2},
	{"HighCutSlope", 155, 2}, {"Year", 157, 2}, {"DayOfYear", 159, 2}, {"Hour", 161, 2}, {"Minute", 163, 2},
	{"Second", 165, 2}, {"TimeBase", 167, 2}, {"TraceWeighting", 169, 2}, {"GroupOfRollSwitch", 171, 2},
	{"GroupOfFirstTrace", 173, 2}, {"GroupOfLastTrace", 175, 2}, {"GapSize", 177, 2}, {"OverTravel", 179, 2},
	CDPX, CDPY, Inline, Crossline, ShotPoint, ShotPointScalar, {"TraceUnit", 203, 2},
	{"TransductionMantissa", 205, 4}, {"TransductionExponent", 209, 2}, {"TransductionUnit", 211, 2},
	{"DeviceIdentifier", 213, 2}, {"TimeScalar", 215, 2}, {"SourceType", 217, 2},
	{"SourceEnergyDirection", 219, 4}, {"SourceEnergyDirectionTenths", 223, 2},
	{"SourceMeasurementMantissa", 225, 4}, {"SourceMeasurementExponent", 229, 2},
	{"SourceMeasurementUnit", 231, 2},
}

// Words returns the words of a trace header that the standard names, by byte.
func Words() []Word { return slices.Clone(words[:]) }

// ParseWord returns the word that a user means by a name of the standard, such
// as "SourceX", in any case, by its first byte, such as "73", or by byte and
// size, such as "73:4".
func ParseWord(s string) (Word, error) {
	for _, w := range words {
		if strings.EqualFold(w.Name, s) {
			return w, nil
		}
	}
	if b, err := strconv.Atoi(s); err == nil { // as segyio has it
		if i := slices.IndexFunc(words[:], func(v Word) bool { return v.Byte == b }); i >= 0 {
			return words[i], nil
		}
	}
	if at, size, ok := strings.Cut(s, ":"); ok {
		b, err1 := strconv.Atoi(at)
		n, err2 := strconv.Atoi(size)
		w := Word{Byte: b, Size: n}
		if i := slices.IndexFunc(words[:], func(v Word) bool { return v.Byte == b && v.Size == n }); i >= 0 {
			w = words[i]
		}
		if err1 == nil && err2 == nil && w.check(1, traceHeader) == nil {
			return w, nil
		}
	}
	return Word{}, fmt.Errorf("data: header word %q: give a name of the SEG-Y standard such as SourceX, SourceY, GroupX, GroupY, CDPX, CDPY or CoordinateScalar, its first byte such as 73, or byte and size such as 73:4", s)
}

func (w Word) String() string {
	return fmt.Sprintf("%s (bytes %d to %d)", cmp.Or(w.Name, "word"), w.Byte, w.Byte+w.Size-1)
}

// check wants w inside a header that has these bytes.
func (w Word) check(first, last int) error {
	if w.Size != 1 && w.Size != 2 && w.Size != 4 {
		return fmt.Errorf("header word %v has %d bytes, must be 1, 2 or 4", w, w.Size)
	}
	if w.Byte < first || w.Byte > last-w.Size+1 {
		return fmt.Errorf("header word %v is outside the header, which has bytes %d to %d", w, first, last)
	}
	return nil
}

// unsigned reports whether w is a count of samples or an interval, which files
// let run up to 65535.
func (w Word) unsigned() bool {
	return w.Size == 2 && slices.Contains([]int{TraceSamples.Byte, TraceInterval.Byte, binaryInterval.Byte, binarySamples.Byte}, w.Byte)
}

// get returns w from a header whose first byte has number first.
func (w Word) get(header []byte, first int) int {
	b := header[w.Byte-first:]
	switch {
	case w.Size == 4:
		return int(int32(binary.BigEndian.Uint32(b)))
	case w.Size == 1:
		return int(int8(b[0]))
	case w.unsigned():
		return int(binary.BigEndian.Uint16(b))
	}
	return int(int16(binary.BigEndian.Uint16(b)))
}

// put sets w in a header and refuses a value that it has no room for.
func (w Word) put(header []byte, first, v int) error {
	lo, hi := -1<<(8*w.Size-1), 1<<(8*w.Size-1)-1
	if w.unsigned() {
		lo, hi = 0, 1<<16-1
	}
	if v < lo || v > hi {
		return fmt.Errorf("header word %v cannot hold %d: it goes from %d to %d", w, v, lo, hi)
	}
	b := header[w.Byte-first:]
	switch w.Size {
	case 4:
		binary.BigEndian.PutUint32(b, uint32(v))
	case 2:
		binary.BigEndian.PutUint16(b, uint16(v))
	default:
		b[0] = byte(v)
	}
	return nil
}

// putAll sets words of a header whose bytes are first to last. Words that
// overlap are refused: which one counts would be a matter of luck.
func putAll(header []byte, first, last int, values map[Word]int) error {
	list := slices.SortedFunc(maps.Keys(values), func(a, b Word) int {
		return cmp.Or(cmp.Compare(a.Byte, b.Byte), cmp.Compare(a.Size, b.Size), cmp.Compare(a.Name, b.Name))
	})
	for i, w := range list {
		if err := w.check(first, last); err != nil {
			return err
		}
		if i > 0 && w.Byte < list[i-1].Byte+list[i-1].Size {
			return fmt.Errorf("header words %v and %v overlap", list[i-1], w)
		}
		if err := w.put(header, first, values[w]); err != nil {
			return err
		}
	}
	return nil
}
