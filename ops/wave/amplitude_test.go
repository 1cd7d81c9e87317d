package wave

import (
	"math"
	"strings"
	"testing"
)

// TimeTables of PyLops 2.8.0 for grid2 and grid3, velocity 1000:
//
//	K = Kirchhoff(z, x, t, srcs, recs, 1000., np.array([1.]), 0, y=y, mode="analytic",
//	              dynamic=True, aperture=aperture, angleaperture=angleaperture)
//
// 2-D has sources2, receivers2, aperture=(0.5, 1.5), angleaperture=(30, 60), 3-D has
// sources3, receivers3, aperture=None, angleaperture=80. Weights are the sums over time of
// the data of single nodes, which do not depend on how times are interpolated: W[s, r, i] =
// (K @ e_i)[s, r].sum().
var (
	receivers2 = []Point{{X: 0, Z: 1}, {X: 7, Z: 1}, {X: 16, Z: 4}}
	sources3   = []Point{{X: 2, Y: 5, Z: 1}, {X: 9, Y: 2, Z: 5}}
	receivers3 = []Point{{X: 7, Y: 0, Z: 1}}
	floor2     = 0.35000876727779057 // maxdist
	amps2      = []float64{
		0.65232685621824549, 0.50280085717667355, 0.38706913888329508, 0.3232616377401179, 0.65232685621824549,
		0.50280085717667355, 0.38706913888329508, 0.3232616377401179, 0.39683762111474014, 0.37640261255602214,
		0.33642603105395141, 0.29925285540793461, 0.31083480442916256, 0.30442683523779379, 0.2885319553968031,
		0.26915552611182897, 0.26398175803307572, 0.26110613041535136, 0.25333465411284811, 0.24258324919986204,
		0.32703481675742507, 0.31883952809972582, 0.29925285540793461, 0.27652250470522438, 0.4323373469222509,
		0.40222773203322004, 0.35006447743702901, 0.30648846525856283, 0.86066017114440641, 0.53358675074955852,
		0.39427654691374536, 0.32607049710199598, 0.54635764977290613, 0.46662537394674131, 0.37640261255602214,
		0.31883952809972582, 0.3688553367914385, 0.35431194579234115, 0.3232616377401179, 0.29170809927586089,
	}
	angles2 = []float64{
		0, 0, 0, 0, 0.75142330654036471,
		0.49365141755625225, 0.28102245503935097, 0.2040023261230228, 1.3389725222944935, 1.1193565292739496,
		0.7724001842718583, 0.59789390619540228, 1.425067929555963, 1.2874382618261699, 1.0336532645944465,
		0.88397283759445722, 1.4652496601835237, 1.3621367596978962, 1.1610667135617669, 1.0376593881587579,
		-1.4099210495965753, -1.2508992807464574, -0.9476248357290189, -0.76209904911817861, -1.3005865766596043,
		-1.035944830123583, -0.67182184211998153, -0.5060015698201672, -0.333871608450518, -0.2302123022057645,
		-0.13934545137578536, -0.10167889616384347, 1.0662006818082483, 0.73322289402441843, 0.42169570781271409,
		0.3066727929716167, 1.3683504336523546, 1.1574032037326327, 0.78288653380522322, 0.58207352323446937,
	}
	weights2 = []float64{
		0.0011028104686646157, 0.00053472069749413962, 0.00030389391594467808, 0.00021028096899275745, 0,
		9.6325309247053485e-05, 0.00027891129392225883, 0.00020139199031033624, 0, 0,
		2.0953872646852251e-05, 0.00011796899662343789, 0, 0, 0,
		2.4740411994417023e-06, 0, 0, 0, 0,
		0, 0, 0.0001440529779504315, 0.00017943300775548197, 0,
		0.00026890463113078949, 0.00027358557927866081, 0.00019945381564906965, 0, 0,
		0.00015700013346193759, 0.00018788911283301399, 0, 0, 1.212223878196597e-06,
		4.8477209413266903e-05, 0, 0, 0, 5.6433571811355357e-07,
		0, 0, 0, 0, 0,
		0, 0, 0, 0, 0,
		0, 3.4701900369239551e-06, 0, 0, 2.1677465115222597e-07,
		4.295195933213824e-05, 0, 0, 0, 1.0325053409363498e-06,
		0, 0, 2.0368147922295034e-05, 9.9611199456591562e-05, 0,
		3.0168534817105524e-07, 0.00018630817656405531, 0.00017223857610340431, 0, 0,
		3.4067876048669707e-05, 0.00011803387020018562, 0, 0, 0,
		9.2554529907699543e-06, 0, 0, 0, 0,
		0, 0, 1.265958175379598e-05, 9.9376596492790876e-05, 0,
		1.7735478190174855e-06, 0.0002339052019970936, 0.00019447142030996686, 0.0013996660044936105, 0.00055440693294476074,
		0.00030789439761738359, 0.00021154566477833058, 0, 1.7735478190174855e-06, 0.0002339052019970936,
		0.00019447142030996689, 0, 0, 1.2659581753795982e-05, 9.9376596492790876e-05,
		0, 0, 0, 0, 0,
		0, 0, 0, 0, 0,
		0, 4.9329100490618852e-06, 0, 0, 5.7905180917203028e-05,
		0.00020725582203283345, 0, 0, 0.00017861296171644926, 0.00020823283198780957,
	}
	floor3 = 0.33564561253221414
	amps3  = []float64{
		0.096287897111953638, 0.10406624157250134, 0.10235805585447551, 0.092389557179970189, 0.14196782506596203,
		0.17203202474810919, 0.16446805066392831, 0.13013860681515407, 0.20332553935250686, 0.35904897695241772,
		0.29979203913117808, 0.17203202474810919, 0.1748004087956227, 0.24526016343896256, 0.22427804257026515,
		0.15384474284131541, 0.11571034701482701, 0.13013860681515407, 0.12681536113690606, 0.10908210542490822,
		0.094062088425180324, 0.10126543693322683, 0.09969090508525312, 0.090420402276961936, 0.1350126490254103,
		0.15995584206221122, 0.15384474284131541, 0.12473818452349024, 0.18400397757589448, 0.27380228999730266,
		0.24526016343896256, 0.15995584206221122, 0.16216398083442821, 0.21301320885460437, 0.19896295049244778,
		0.14507294269866114, 0.11188221728101756, 0.12473818452349024, 0.1218078207124141, 0.10586402884290423,
		0.07678001123399536, 0.080523780872143055, 0.079730820914141867, 0.074771663660316692, 0.09449476898055105,
		0.10180729746856851, 0.1002074657941792, 0.09080405649848132, 0.10711631969593996, 0.11820772477678705,
		0.11571034701482701, 0.10180729746856851, 0.10235805585447551, 0.11188221728101756, 0.10976213447928349,
		0.09770261533767069, 0.085517870925754386, 0.09080405649848132, 0.089667606709855879, 0.082761001441688312,
	} // of the second source
	angles3 = []float64{
		-1.87066594749282, -1.6783646159046639, -1.3551052002074944, -1.1505625574045337, -2.1090444429328969,
		-1.7559436554622811, -1.2026893446176041, -0.86700687611549865, -2.8739431982322019, -2.3303783011214443,
		-0.46182363678123639, -0.20544799571215633, 2.4283613669608743, 1.8955875667473951, 0.96257787864095978,
		0.56002299808991951, 1.9818364951846039, 1.709404051577315, 1.2906155881241272, 1.0024959893090419,
		-1.8596673063762865, -1.6758964381624153, -1.3605985902865816, -1.166977892944663, -2.0506824255977003,
		-1.7417848812696826, -1.2339953228554674, -0.936360784079738, -2.4742367999603325, -1.9314078974878199,
		-0.91383178679030486, -0.53018001029798612, 2.2592494501392846, 1.8253066240448295, 1.0856858466650217,
		0.72083731941224671, 1.9561198457219027, 1.7056337759566957, 1.3006773785935826, 1.0397250931899162,
		-1.8253732419723763, -1.6679072833981599, -1.3776508819801758, -1.2167535876274209, -1.8830524379346003,
		-1.6860104986061131, -1.3414193865169761, -1.1380648655841803, -1.9261554743979001, -1.689638944217515,
		-1.3286085914870069, -1.071155590424345, 1.9128696689278535, 1.6913468560279623, 1.3285918517100797,
		1.0940052514471426, 1.8716025953115414, 1.6841174520732576, 1.3457051507814644, 1.1542056782979169,
	}
	weights3 = []float64{
		9.9668608014866977e-07, 3.0229261551342533e-05, 2.285508826911419e-05, 1.4985110513619878e-05, 2.6788061906687447e-05,
		4.2294878993715649e-05, 2.9241799702602763e-05, 1.7473090071280723e-05, 1.8838438868013509e-05, 6.2870497683487466e-05,
		2.9819120380134067e-05, 1.7063235339005088e-05, 0, 1.0213195600933815e-05, 1.8609788290413377e-05,
		1.2612088932498036e-05, 0, 4.2793359152734519e-07, 1.0609795559737892e-05, 8.5710522529573708e-06,
		2.0035560687152262e-06, 3.9666499292524198e-05, 2.5038331270201825e-05, 1.5323753696287932e-05, 2.7221453706623042e-05,
		5.2227903399536148e-05, 3.0164357316286468e-05, 1.7525283839798862e-05, 4.2975909727786096e-06, 4.535627133212449e-05,
		2.7574803075192196e-05, 1.6773071634185329e-05, 0, 8.6553908899343812e-06, 1.7268085851835459e-05,
		1.2245047069703667e-05, 0, 3.4079598441152315e-07, 1.0169378013230617e-05, 8.3671021596455719e-06,
		0, 7.1814496497286275e-06, 1.4835091889229467e-05, 1.0759362013311816e-05, 0,
		5.7260868941586605e-06, 1.3888107811501165e-05, 1.078053240103735e-05, 0, 9.6525285466160593e-06,
		1.6250631403253451e-05, 1.176853134982792e-05, 0, 2.0061968956575489e-06, 1.1790180578609016e-05,
		9.2694229211126666e-06, 0, 1.2471015325562111e-07, 7.8851338003807175e-06, 6.8264345275327972e-06,
		0, 0, 1.2452910869516193e-06, 1.5094621542087625e-05, 0,
		0, 3.6976730953930582e-05, 2.5756603307146213e-05, 0, 0,
		8.5404494864590289e-05, 3.5596502314226085e-05, 0, 0, 5.46794687526129e-05,
		2.894181793738992e-05, 0, 0, 8.4676603806658078e-06, 1.6601760679010686e-05,
		0, 0, 1.0795813785074411e-06, 1.3417512900665397e-05, 0,
		0, 2.4007507806312898e-05, 2.2180907532634946e-05, 0, 0,
		4.2171547667080353e-05, 2.6048909935032036e-05, 0, 0, 4.1102918336363294e-05,
		2.4621898917861592e-05, 0, 0, 5.8816782221570136e-06, 1.5038006664994451e-05,
		0, 0, 3.0552269529254854e-07, 7.3623851954182087e-06, 0,
		0, 1.6835160670133446e-06, 1.2718655993321827e-05, 0, 0,
		1.233791400923943e-06, 8.6411040231210249e-06, 0, 0, 2.6906107932127406e-06,
		1.3227856442541754e-05, 0, 0, 1.2443421456752847e-06, 9.8986753549139612e-06,
	}
)

func TestAmplitudesPyLops(t *testing.T) {
	if got := SpreadingFloor(grid2, sources2, receivers2); !(math.Abs(got-floor2) <= 1e-15) {
		t.Errorf("2-D floor %g, want %g", got, floor2)
	}
	if got := SpreadingFloor(grid3, sources3, receivers3); !(math.Abs(got-floor3) <= 1e-15) {
		t.Errorf("3-D floor %g, want %g", got, floor3)
	}
	got := make([]float64, grid2.Nodes())
	for k, p := range sources2 {
		want := amps2[k*len(got):][:len(got)]
		if err := Amplitudes(got, grid2, p, floor2); err != nil || !(maxDiff(got, want) <= 1e-15) {
			t.Errorf("source %v: %v, %v, want %v", p, got, err, want)
		}
	}
	got = make([]float64, grid3.Nodes())
	if err := Amplitudes(got, grid3, sources3[1], floor3); err != nil || !(maxDiff(got, amps3) <= 1e-15) {
		t.Errorf("3-D: %v, %v, want %v", got, err, amps3)
	}
}

func TestAnglesPyLops(t *testing.T) {
	for k, p := range sources2 {
		n := grid2.Nodes()
		got, want := anglesOf[float64](t, grid2, p), angles2[k*n:][:n]
		if !(maxDiff(got, want) <= 1e-13) {
			t.Errorf("source %v: %v, want %v", p, got, want)
		}
	}
	if got := anglesOf[float64](t, grid3, sources3[1]); !(maxDiff(got, angles3) <= 1e-13) {
		t.Errorf("3-D: %v, want %v", got, angles3)
	}
}

// anglesOf returns the angles that the table of straight rays of velocity 1000 gives.
func anglesOf[F Float](t *testing.T, g Grid, p Point) []F {
	t.Helper()
	c, err := NewConstant(g, 1000)
	if err != nil {
		t.Fatal(err)
	}
	times, angles := make([]F, g.Nodes()), make([]F, g.Nodes())
	if err := StraightTimes(times, c, p); err != nil {
		t.Fatal(err)
	}
	if err := Angles(angles, g, times); err != nil {
		t.Fatal(err)
	}
	return angles
}

// TestPairWeightsPyLops puts the parts together as an operator does.
func TestPairWeightsPyLops(t *testing.T) {
	// PyLops' aperture is a hard limit at its larger value.
	testPairWeights[float64](t, grid2, sources2, receivers2, floor2, Taper{30, 60}, Taper{1.5, 1.5}, weights2, 1e-15)
	testPairWeights[float32](t, grid2, sources2, receivers2, floor2, Taper{30, 60}, Taper{1.5, 1.5}, weights2, 1e-8)
	testPairWeights[float64](t, grid3, sources3, receivers3, floor3, TaperTo(80), Taper{}, weights3, 1e-15)
}

func testPairWeights[F Float](t *testing.T, g Grid, sources, receivers []Point, floor float64, angle, aperture Taper, want []float64, tol float64) {
	n := g.Nodes()
	rad := Taper{angle.Start * math.Pi / 180, angle.End * math.Pi / 180}
	factors := func(p Point) (even, odd []F) {
		even, odd, amp := make([]F, n), make([]F, n), make([]F, n)
		if err := Amplitudes(amp, g, p, floor); err != nil {
			t.Fatal(err)
		}
		if err := PairFactors(even, odd, amp, anglesOf[F](t, g, p), rad); err != nil {
			t.Fatal(err)
		}
		return even, odd
	}
	limit, k := make([]F, g.Z.N), 0
	for _, s := range sources {
		sEven, sOdd := factors(s)
		for _, r := range receivers {
			rEven, rOdd := factors(r)
			if err := ApertureWeights(limit, g, s, r, aperture); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				got := float64(2 * (sEven[i]*rEven[i] + sOdd[i]*rOdd[i]) / 1000 * limit[i%g.Z.N])
				if !(math.Abs(got-want[k]) <= tol) {
					t.Errorf("%T, %d-D: source %v, receiver %v, node %d: %g, want %g", limit, g.Dims(), s, r, i, got, want[k])
				}
				k++
			}
		}
	}
}

func TestStraightAngles(t *testing.T) {
	// Halving the step brings the angles of a table closer to the exact ones, away
	// from the source and the edges.
	for _, dims := range []int{2, 3} {
		last := math.Inf(1)
		for _, n := range []int{11, 21, 41} {
			a := Axis{N: n, Step: 100 / float64(n-1)}
			g := Grid{X: a, Z: a}
			if dims == 3 {
				g.Y = a
			}
			p := Point{X: 31, Y: 47, Z: -40}
			want := make([]float64, g.Nodes())
			if err := StraightAngles(want, g, p); err != nil {
				t.Fatal(err)
			}
			diff, m := 0.0, 0
			for i, got := range anglesOf[float64](t, g, p) {
				ix, iz, iy := i/n%n, i%n, i/n/n
				if ix > 0 && ix < n-1 && iz > 0 && iz < n-1 && (dims == 2 || iy > 0 && iy < n-1 && math.Abs(a.At(ix)-p.X) > 10) {
					diff = max(diff, math.Abs(got-want[i]))
					m++
				}
			}
			if m == 0 || !(diff < last/3) {
				t.Errorf("%d-D, %d nodes: difference %g, after %g", dims, n, diff, last)
			}
			last = diff
		}
	}
	down, right := grid3.angle(0, 0, 5), grid3.angle(0, 2, 0)
	if left := grid3.angle(0, -2, 0); down != 0 || right != math.Pi/2 || left != -right || grid3.angle(0, 0, 0) != 0 {
		t.Errorf("angle down %g, right %g, left %g", down, right, left)
	}
}

// TestAnglesEikonal compares angles from eikonal times for v = v₀ + kz with those from
// small differences of the formula t = acosh(1 + k²d²/(2·v₁v₂))/k.
func TestAnglesEikonal(t *testing.T) {
	const v0, k = 1500, 1
	g, p := cube(2, 101, true), Point{X: 113, Z: 137}
	velocity := func(q Point) float64 { return v0 + k*q.Z }
	exact := func(q Point) float64 {
		d := g.Distance(p, q)
		return math.Acosh(1+k*k*d*d/(2*velocity(p)*velocity(q))) / k
	}
	angles := make([]float64, g.Nodes())
	if err := Angles(angles, g, eikonal(t, g, p, velocity)); err != nil {
		t.Fatal(err)
	}
	const h = 0.01
	for i, got := range angles {
		q := g.Node(i)
		if ix, iz := i/g.Z.N, i%g.Z.N; ix == 0 || ix == g.X.N-1 || iz == 0 || iz == g.Z.N-1 || g.Distance(p, q) < 100 {
			continue // one-sided differences, and those across the source
		}
		x := exact(Point{X: q.X + h, Z: q.Z}) - exact(Point{X: q.X - h, Z: q.Z})
		z := exact(Point{X: q.X, Z: q.Z + h}) - exact(Point{X: q.X, Z: q.Z - h})
		if want := math.Atan2(x, z); !(math.Abs(got-want) <= 0.005) {
			t.Fatalf("node %v: angle %g, want %g", q, got, want)
		}
	}
}

func TestTaper(t *testing.T) {
	// aperturetap of PyLops, whose index is the number of twentieths.
	steps := []float64{1, 1, 0.9931806517013612, 0.9729086208503173, 0.9397368756032445, 0.8945702546981968,
		0.8386407858128706, 0.7734740790612135, 0.7008477123264848, 0.6227427435703996, 0.5412896727361662,
		0.4587103272638339, 0.37725725642960056, 0.2991522876735153, 0.22652592093878648, 0.16135921418712956,
		0.10542974530180327, 0.06026312439675552, 0.027091379149682626, 0.006819348298638839}
	taper := Taper{Start: 2, End: 4}
	for k, want := range steps {
		if got := taper.Weight(2.05 + 0.1*float64(k)); !(math.Abs(got-want) <= 1e-15) {
			t.Errorf("step %d: %g, want %g", k, got, want)
		}
	}
	for _, tt := range []struct {
		taper   Taper
		x, want float64
	}{
		{taper, 0, 1}, {taper, 1.99, 1}, {taper, 4, 0}, {taper, 9, 0}, {taper, math.NaN(), 0},
		{Taper{3, 3}, 2.9, 1}, {Taper{3, 3}, 3, 0}, {Taper{}, 1e9, 1},
		{Taper{1, math.Inf(1)}, 1e9, 1}, {TaperTo(10), 7.9, 1}, {TaperTo(10), 10, 0},
	} {
		if got := tt.taper.Weight(tt.x); got != tt.want {
			t.Errorf("%+v at %g: %g, want %g", tt.taper, tt.x, got, tt.want)
		}
	}
}

func TestFloorDiv(t *testing.T) {
	for _, tt := range [][3]float64{{1, 0.1, 9}, {0.6, 0.1, 5}, {7, 4, 1}, {8, 4, 2}, {-1, 4, -1}, {-4, 4, -1}, {0, 4, 0}} {
		if got := floorDiv(tt[0], tt[1]); got != tt[2] {
			t.Errorf("%g // %g is %g, want %g", tt[0], tt[1], got, tt[2])
		}
	}
}

func TestApertureWeights3D(t *testing.T) {
	got := make([]float64, 4)
	s, r := Point{X: 0, Y: 0, Z: 1}, Point{X: 13, Y: 21, Z: 1} // 3 and 4 nodes apart
	if err := ApertureWeights(got, grid3, s, r, Taper{2.5, 2.5}); err != nil || !(maxDiff(got, []float64{0, 0, 1, 1}) <= 0) {
		t.Errorf("weights %v, %v", got, err)
	}
}

func TestAmplitudeErrors(t *testing.T) {
	dst := make([]float64, grid2.Nodes())
	short, nan := dst[:3], Point{X: math.NaN()}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{Amplitudes(short, grid2, Point{}, 1), "amplitudes: slice of 3"},
		{Amplitudes(dst, Grid{}, Point{}, 1), "X.N is 0"},
		{Amplitudes(dst, grid2, nan, 1), "NaN"},
		{Amplitudes(dst, grid2, Point{}, 0), "floor 0"},
		{Amplitudes(dst, grid2, Point{}, math.NaN()), "floor NaN"},
		{Angles(short, grid2, dst), "angles: slice of 3"},
		{Angles(dst, grid2, short), "times of angles: slice of 3"},
		{StraightAngles(short, grid2, Point{}), "straight angles: slice of 3"},
		{StraightAngles(dst, grid2, nan), "NaN"},
		{PairFactors(dst, dst, dst, short, Taper{}), "20, 20, 20 and 3"},
		{PairFactors(dst, dst, dst, dst, Taper{3, 2}), "angle: taper ends at 2"},
		{ApertureWeights(short, grid2, Point{}, Point{}, Taper{}), "slice of 3 for 4 depths"},
		{ApertureWeights(short, Grid{}, Point{}, Point{}, Taper{}), "X.N is 0"},
		{ApertureWeights(dst[:4], grid2, Point{}, Point{}, Taper{-1, math.NaN()}), "taper starts at -1"},
		{ApertureWeights(dst[:4], grid2, Point{}, nan, Taper{}), "NaN"},
	} {
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) || !strings.HasPrefix(tt.err.Error(), "wave: ") {
			t.Errorf("error %v, want one with %q", tt.err, tt.want)
		}
	}
}
