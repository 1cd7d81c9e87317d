package golden

import (
	"encoding/json"
	"fmt"
)

// Int returns the parameter called key. Like the methods for other types it panics if
// there is no such parameter of that type: that is a bug of the test.
func (c Case) Int(key string) int {
	n, err := toInt(c.param(key))
	c.check(key, "an integer", err)
	return n
}

// Float returns the number called key.
func (c Case) Float(key string) float64 {
	f, err := toFloat(c.param(key))
	c.check(key, "a number", err)
	return f
}

// Complex returns the complex number called key, which JSON holds as [re, im]
// or, where it is real, as a number.
func (c Case) Complex(key string) complex128 {
	p := c.param(key)
	if _, ok := p.([]any); !ok {
		p = []any{p, json.Number("0")}
	}
	f, err := list(p, toFloat)
	if err == nil && len(f) != 2 {
		err = fmt.Errorf("%d parts", len(f))
	}
	c.check(key, "a complex number", err)
	return complex(f[0], f[1])
}

// Bool returns the truth value called key.
func (c Case) Bool(key string) bool {
	b, ok := c.param(key).(bool)
	if !ok {
		c.check(key, "a truth value", fmt.Errorf("it is %v", c.Params[key]))
	}
	return b
}

// String returns the text called key, "" where PyLops has None.
func (c Case) String(key string) string {
	p := c.param(key)
	s, ok := p.(string)
	if !ok && p != nil {
		c.check(key, "a text", fmt.Errorf("it is %v", p))
	}
	return s
}

// Ints returns the integers called key; a lone integer is a list of one.
func (c Case) Ints(key string) []int {
	v, err := list(c.param(key), toInt)
	c.check(key, "a list of integers", err)
	return v
}

// Floats returns the numbers called key; a lone number is a list of one.
func (c Case) Floats(key string) []float64 {
	v, err := list(c.param(key), toFloat)
	c.check(key, "a list of numbers", err)
	return v
}

// Strings returns the texts called key.
func (c Case) Strings(key string) []string {
	v, err := list(c.param(key), func(p any) (string, error) {
		s, ok := p.(string)
		if !ok {
			return "", fmt.Errorf("it is %v", p)
		}
		return s, nil
	})
	c.check(key, "a list of texts", err)
	return v
}

// IntRows returns the lists of integers called key, such as a shape for each
// rank.
func (c Case) IntRows(key string) [][]int {
	v, err := list(c.param(key), func(p any) ([]int, error) { return list(p, toInt) })
	c.check(key, "lists of integers", err)
	return v
}

func (c Case) param(key string) any {
	p, ok := c.Params[key]
	if !ok {
		panic(fmt.Sprintf("golden: parameter %q of %s: the case has %v", key, c.Name, c.Params))
	}
	return p
}

func (c Case) check(key, want string, err error) {
	if err != nil {
		panic(fmt.Sprintf("golden: parameter %q of %s as %s: %v", key, c.Name, want, err))
	}
}

func toInt(p any) (int, error) {
	n, ok := p.(json.Number)
	if !ok {
		return 0, fmt.Errorf("it is %v", p)
	}
	i, err := n.Int64()
	return int(i), err
}

func toFloat(p any) (float64, error) {
	n, ok := p.(json.Number)
	if !ok {
		return 0, fmt.Errorf("it is %v", p)
	}
	return n.Float64()
}

// list applies to to each element of p, or to p itself where it is no list.
func list[N any](p any, to func(any) (N, error)) ([]N, error) {
	l, ok := p.([]any)
	if !ok {
		l = []any{p}
	}
	out := make([]N, len(l))
	for i, e := range l {
		var err error
		if out[i], err = to(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}
