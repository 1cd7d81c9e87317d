package report_test

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"time"

	"github.com/golops/golops/report"
)

func ExamplePicture() {
	model := []float32{1500, 1500, 2000, 2000, 2500, 2500} // 3 across, 2 in depth, stored so
	g, _ := report.GridOf(3, 2, model)
	p := report.Picture{
		Title: "Velocity", Data: g.T(), Map: report.Velocity, Bar: report.Bar{Unit: "m/s"},
		X: report.Axis{Label: "x", Unit: "m", Step: 10},
		Y: report.Axis{Label: "depth", Unit: "m", Step: 10},
	}
	var b bytes.Buffer // or report.Save("velocity.png", p.PNG)
	err := p.PNG(&b)
	c, _ := png.DecodeConfig(&b)
	fmt.Println(c.Width > c.Height, err)
	// Output: true <nil>
}

func ExampleProgress() {
	now := time.Unix(0, 0)
	p := report.NewProgress(report.ProgressConfig{Out: os.Stdout, Name: "inversion", Total: 100, Clock: func() time.Time { return now }})
	now = now.Add(6 * time.Second)
	p.Update(25, 0.125)
	now = now.Add(2 * time.Second)
	p.Update(32, 1e-3)
	p.Done()
	// Output:
	// inversion   25/100  residual 1.250e-01  6.0s, 18s left
	// inversion   32/100  residual 1.000e-03  8.0s
}
