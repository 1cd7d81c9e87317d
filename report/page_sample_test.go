package report

import (
	"io"
	"testing"
	"time"
)

// samplePage is a page with everything. Its texts hold what must be escaped.
func samplePage(t testing.TB) Page {
	t.Helper()
	figure := func(title, caption string, draw func(io.Writer) error) Figure {
		f, err := NewFigure(title, caption, draw)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	return Page{
		Title:  "Least-squares migration",
		Result: "100 CGLS iterations reduced the residual by a factor of 8240; the inverse correlates with the true reflectivity at 0.94, after 11.8 s on 4 ranks.",
		Facts:  []Fact{{"iterations", "100"}, {"residual reduction", "8240×"}, {"model correlation", "0.94"}, {"seconds", "11.8"}},
		Figures: []Figure{
			figure("Image", "True reflectivity, adjoint and inverse, each divided by its own clip.", samplePanels(t).PNG),
			figure("Velocity", "The model with 20 sources and 11 receivers.", sampleVelocity(t).PNG),
			figure("Residual", "Norm of the data residual, logarithmic.", ResidualCurve(sampleResiduals(100)).SVG),
			figure("Shot gather", "Data of source 10.", sampleGather(t, 60).PNG),
		},
		Parameters: []Group{
			{"Model", []Parameter{{"nx", "81", "samples across"}, {"nz", "60", "samples in depth"}, {"dx, dz", "4 m", ""}, {"velocity", "built-in layers with a fault", ""}}},
			{"Acquisition", []Parameter{{"sources", "40", "10 for each rank"}, {"receivers", "11", ""}, {"nt", "651", ""}, {"dt", "4 ms", ""}, {"wavelet", "Ricker, 20 Hz", ""}}},
			{"Inversion", []Parameter{{"method", "CGLS", ""}, {"iterations", "100", "at most"}, {"tol", "1e-6", "relative residual"}, {"damp", "0", ""}, {"element type", "float64", ""}}},
			{"Input", []Parameter{{"config", `<script>alert("x")</script>`, `a "quoted" & <b>bold</b> note`}}},
		},
		Timings: Timings{
			Phases: []string{"travel times", "forward", "adjoint", "communication", "other"},
			Ranks: []RankTimes{
				{0, "cpu, node01", []float64{0.412, 4.9, 5.21, 0.63, 0.2}},
				{1, "cpu, node01", []float64{0.398, 4.7, 5.02, 0.94, 0.12}},
				{2, "cpu, node02", []float64{0.44, 5.1, 5.4, 0.31, 0.11}},
				{3, "cpu, node02", []float64{0.401, 4.2, 4.6, 1.98, 0.0009}},
			},
		},
		Libraries: []Library{{"golops", "0.4.0", "go1.26, linux/amd64"}, {"Open MPI", "4.1.4", "/usr/lib/x86_64-linux-gnu/libmpi.so.40"}, {"NCCL", "not found", "libnccl.so.2: cannot open shared object file"}},
		Files: []File{
			{"model.npy", "velocity, 81 × 60", 38_976}, {"data.npy", "40 × 11 × 651", 2_291_648}, {"inverse.npy", "", 38_976},
			{"pictures/shot gather #10.png", "the picture above", 41_782}, {"residuals.csv", "", 0},
		},
		Command: "golops lsm --ranks 4 --iterations 100",
		Created: time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC),
	}
}
