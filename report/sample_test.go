package report

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The samples are what a migration of a small model looks like: nx by nz
// values, depth last, as programs store them.
const (
	sampleNX, sampleNZ = 81, 60
	sampleStep         = 4.0
)

// sampleModel returns velocity and reflectivity of layers with a fault.
func sampleModel() (velocity, reflectivity []float64) {
	velocity, reflectivity = make([]float64, sampleNX*sampleNZ), make([]float64, sampleNX*sampleNZ)
	layer := func(x, z int) int {
		throw := 0
		if float64(x) > 48-0.35*float64(z) {
			throw = 6
		}
		k := 0
		for i, top := range []float64{12, 24, 33, 46} {
			if float64(z) >= top+4*math.Sin(float64(x)/14+float64(i))+float64(throw) {
				k = i + 1
			}
		}
		return k
	}
	v := []float64{1500, 1750, 2100, 2000, 2600}
	for x := range sampleNX {
		for z := range sampleNZ {
			i := x*sampleNZ + z
			velocity[i] = v[layer(x, z)] + 1.5*float64(z)
			if z > 0 {
				reflectivity[i] = (velocity[i] - velocity[i-1] - 1.5) / (velocity[i] + velocity[i-1])
			}
		}
	}
	return velocity, reflectivity
}

// blurred convolves along depth with a Ricker wavelet of width samples and adds noise.
func blurred(v []float64, width, gain, noise float64) []float64 {
	rnd := rand.New(rand.NewPCG(1, 2))
	out := make([]float64, len(v))
	for x := range sampleNX {
		for z := range sampleNZ {
			s := 0.0
			for k := range sampleNZ {
				a := math.Pow(float64(k-z)/width, 2)
				s += v[x*sampleNZ+k] * (1 - 2*a) * math.Exp(-a)
			}
			out[x*sampleNZ+z] = gain * (s + noise*rnd.NormFloat64())
		}
	}
	return out
}

// sampleTraces returns receivers by times: hyperbolas.
func sampleTraces(nr, nt int, dt float64) []float64 {
	v := make([]float64, nr*nt)
	for r := range nr {
		x := (float64(r) - float64(nr)*0.4) * 320 / float64(nr)
		for i, t0 := range []float64{0.12, 0.3, 0.52, 0.8} {
			arrival := math.Hypot(t0, x/(1200+300*float64(i)))
			for k := range nt {
				a := math.Pow(math.Pi*20*(float64(k)*dt-arrival), 2)
				v[r*nt+k] += math.Pow(-0.8, float64(i)) * (1 - 2*a) * math.Exp(-a) / (1 + 3*arrival)
			}
		}
	}
	return v
}

func sampleResiduals(n int) (v []float64) {
	for i := range n + 1 {
		v = append(v, 12.4*math.Exp(-0.9*math.Sqrt(float64(i)))*(1+0.08*math.Sin(float64(i))))
	}
	return v
}

func sampleGrid(t testing.TB, v []float64) Grid {
	t.Helper()
	g, err := GridOf(sampleNX, sampleNZ, v)
	if err != nil {
		t.Fatal(err)
	}
	return g.T()
}

var (
	sampleX = Axis{Label: "x", Unit: "m", Step: sampleStep}
	sampleZ = Axis{Label: "depth", Unit: "m", Step: sampleStep}
)

// samplePictures are the pictures of a report.
func sampleVelocity(t testing.TB) Picture {
	v, _ := sampleModel()
	var src, rec Points
	src = Points{Name: "sources", Marker: Star}
	rec = Points{Name: "receivers", Marker: Triangle}
	for i := range 20 {
		src.X, src.Y = append(src.X, 8+16*float64(i)), append(src.Y, 8)
	}
	for i := range 11 {
		rec.X, rec.Y = append(rec.X, 32*float64(i)), append(rec.Y, 0)
	}
	return Picture{
		Title: "Velocity and acquisition", Data: sampleGrid(t, v), X: sampleX, Y: sampleZ,
		Map: Velocity, Bar: Bar{Label: "velocity", Unit: "m/s"}, Points: []Points{rec, src},
	}
}

func samplePanels(t testing.TB) Panels {
	_, r := sampleModel()
	p := Panels{Scaling: Normalized, Bar: Bar{Label: "relative amplitude"}}
	for _, c := range []struct {
		title string
		v     []float64
	}{{"True reflectivity", r}, {"Adjoint", blurred(r, 3.5, 4100, 0.01)}, {"Inverse, 100 iterations", blurred(r, 0.9, 1.1, 0.002)}} {
		p.Pictures = append(p.Pictures, Picture{Title: c.title, Data: sampleGrid(t, c.v), X: sampleX, Y: sampleZ, Map: Seismic, Smooth: true})
	}
	return p
}

func sampleGather(t testing.TB, nr int) Picture {
	t.Helper()
	g, err := GridOf(nr, 651, sampleTraces(nr, 651, 0.002))
	if err != nil {
		t.Fatal(err)
	}
	return ShotGather(g, 0.002)
}
