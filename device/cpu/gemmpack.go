package cpu

// packReal copies lanes × depth elements into a strip, whose lanes are width
// elements apart in depth. One of the strides of src is 1.
func packReal[F float](dst []F, width int, src []F, lanes, depth, dl, dd int) {
	if dl == 1 {
		packAlong(dst, width, src, lanes, depth, dd)
		return
	}
	l := 0
	for ; l+4 <= lanes; l += 4 {
		s0, s1, s2, s3 := src[l*dl:][:depth], src[(l+1)*dl:][:depth], src[(l+2)*dl:][:depth], src[(l+3)*dl:][:depth]
		to := l
		for i := range s0 {
			d := dst[to : to+4 : to+4]
			d[0], d[1], d[2], d[3] = s0[i], s1[i], s2[i], s3[i]
			to += width
		}
	}
	for ; l+2 <= lanes; l += 2 {
		s0, s1 := src[l*dl:][:depth], src[(l+1)*dl:][:depth]
		to := l
		for i := range s0 {
			d := dst[to : to+2 : to+2]
			d[0], d[1] = s0[i], s1[i]
			to += width
		}
	}
	for ; l < lanes; l++ {
		to := l
		for _, v := range src[l*dl:][:depth] {
			dst[to] = v
			to += width
		}
	}
}

// packAlong is packReal where the lanes are neighbours in src.
func packAlong[F float](dst []F, width int, src []F, lanes, depth, dd int) {
	switch {
	case lanes == 16 && width == 16:
		for i := range depth {
			*(*[16]F)(dst[16*i:]) = *(*[16]F)(src[i*dd:])
		}
	case lanes == 8 && width == 8:
		for i := range depth {
			*(*[8]F)(dst[8*i:]) = *(*[8]F)(src[i*dd:])
		}
	case lanes == 6 && width == 6:
		for i := range depth {
			*(*[6]F)(dst[6*i:]) = *(*[6]F)(src[i*dd:])
		}
	default:
		for i := range depth {
			copy(dst[i*width:], src[i*dd:][:lanes])
		}
	}
}
