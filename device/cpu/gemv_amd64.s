#include "textflag.h"

// Products of a matrix, whose rows are stride bytes apart, with a vector. Each
// function takes n bytes of a row, a multiple of 64, at any alignment.

#define ZERO8 \
	VXORPD Y0, Y0, Y0 \
	VXORPD Y1, Y1, Y1 \
	VXORPD Y2, Y2, Y2 \
	VXORPD Y3, Y3, Y3 \
	VXORPD Y4, Y4, Y4 \
	VXORPD Y5, Y5, Y5 \
	VXORPD Y6, Y6, Y6 \
	VXORPD Y7, Y7, Y7

#define ARGS \
	MOVQ s+0(FP), DI       \
	MOVQ a+8(FP), SI       \
	MOVQ x+16(FP), DX      \
	MOVQ stride+24(FP), R8 \
	MOVQ n+32(FP), CX      \
	LEAQ (R8)(R8*2), R9

#define DOTSTEP(FMA) \
	VMOVUPD (DX), Y8           \
	VMOVUPD 32(DX), Y9         \
	FMA (SI), Y8, Y0           \
	FMA 32(SI), Y9, Y1         \
	FMA (SI)(R8*1), Y8, Y2     \
	FMA 32(SI)(R8*1), Y9, Y3   \
	FMA (SI)(R8*2), Y8, Y4     \
	FMA 32(SI)(R8*2), Y9, Y5   \
	FMA (SI)(R9*1), Y8, Y6     \
	FMA 32(SI)(R9*1), Y9, Y7   \
	ADDQ $64, SI               \
	ADDQ $64, DX               \
	SUBQ $64, CX

// DOTROWS leaves in Y0, Y2, Y4, Y6 the sums of four rows, each in as many parts as
// a register has. Of short rows the processor does not guess what comes next:
// the four after these are asked for ahead of time.
#define DOTROWS(FMA, ADD) \
	ARGS                       \
	ZERO8                      \
	CMPQ R8, $4096             \
	JHI  long                  \
	LEAQ (SI)(R8*4), R10       \
short:                         \
	PREFETCHT0 (R10)           \
	PREFETCHT0 (R10)(R8*1)     \
	PREFETCHT0 (R10)(R8*2)     \
	PREFETCHT0 (R10)(R9*1)     \
	ADDQ $64, R10              \
	DOTSTEP(FMA)               \
	JNZ  short                 \
	JMP  end                   \
long:                          \
	DOTSTEP(FMA)               \
	JNZ  long                  \
end:                           \
	ADD Y1, Y0, Y0             \
	ADD Y3, Y2, Y2             \
	ADD Y5, Y4, Y4             \
	ADD Y7, Y6, Y6

// PAIRSTEP adds to Y0, Y2, Y4, Y6 the products of parts with parts of the same
// kind, and to Y1, Y3, Y5, Y7 with those of the other.
#define PAIRSTEP(AT, FMA, SWAP, KIND) \
	VMOVUPD AT(DX), Y8       \
	SWAP KIND, Y8, Y9        \
	VMOVUPD AT(SI), Y10      \
	FMA Y10, Y8, Y0          \
	FMA Y10, Y9, Y1          \
	VMOVUPD AT(SI)(R8*1), Y11 \
	FMA Y11, Y8, Y2          \
	FMA Y11, Y9, Y3          \
	VMOVUPD AT(SI)(R8*2), Y12 \
	FMA Y12, Y8, Y4          \
	FMA Y12, Y9, Y5          \
	VMOVUPD AT(SI)(R9*1), Y13 \
	FMA Y13, Y8, Y6          \
	FMA Y13, Y9, Y7

#define DOTPAIRS(FMA, SWAP, KIND) \
	ARGS                          \
	ZERO8                         \
loop:                             \
	PAIRSTEP(0, FMA, SWAP, KIND)  \
	PAIRSTEP(32, FMA, SWAP, KIND) \
	ADDQ $64, SI                  \
	ADDQ $64, DX                  \
	SUBQ $64, CX                  \
	JNZ  loop

#define HALVE64(Y, X, AT) \
	VEXTRACTF128 $1, Y, X8 \
	VADDPD X8, X, X        \
	VMOVUPD X, AT(DI)

#define HALVE32(Y, X, AT) \
	VEXTRACTF128 $1, Y, X8 \
	VADDPS X8, X, X        \
	VMOVHLPS X, X, X8      \
	VADDPS X8, X, X        \
	VMOVLPS X, AT(DI)

#define ADDARGS \
	MOVQ y+0(FP), DI       \
	MOVQ a+8(FP), SI       \
	MOVQ c+16(FP), DX      \
	MOVQ stride+24(FP), R8 \
	MOVQ n+32(FP), CX      \
	LEAQ (R8)(R8*2), R9    \
	LEAQ (R8)(R8*4), R10   \
	LEAQ (R9)(R8*4), R11

// ADDROWS adds eight rows, each with a factor.
#define ADDROWS(FMA, CAST, SIZE) \
	ADDARGS                    \
	CAST 0*SIZE(DX), Y8        \
	CAST 1*SIZE(DX), Y9        \
	CAST 2*SIZE(DX), Y10       \
	CAST 3*SIZE(DX), Y11       \
	CAST 4*SIZE(DX), Y12       \
	CAST 5*SIZE(DX), Y13       \
	CAST 6*SIZE(DX), Y14       \
	CAST 7*SIZE(DX), Y15       \
loop:                          \
	VMOVUPD (DI), Y0           \
	VMOVUPD 32(DI), Y1         \
	FMA (SI), Y8, Y0           \
	FMA 32(SI), Y8, Y1         \
	FMA (SI)(R8*1), Y9, Y0     \
	FMA 32(SI)(R8*1), Y9, Y1   \
	FMA (SI)(R8*2), Y10, Y0    \
	FMA 32(SI)(R8*2), Y10, Y1  \
	FMA (SI)(R9*1), Y11, Y0    \
	FMA 32(SI)(R9*1), Y11, Y1  \
	FMA (SI)(R8*4), Y12, Y0    \
	FMA 32(SI)(R8*4), Y12, Y1  \
	FMA (SI)(R10*1), Y13, Y0   \
	FMA 32(SI)(R10*1), Y13, Y1 \
	FMA (SI)(R9*2), Y14, Y0    \
	FMA 32(SI)(R9*2), Y14, Y1  \
	FMA (SI)(R11*1), Y15, Y0   \
	FMA 32(SI)(R11*1), Y15, Y1 \
	VMOVUPD Y0, (DI)           \
	VMOVUPD Y1, 32(DI)         \
	ADDQ $64, SI               \
	ADDQ $64, DI               \
	SUBQ $64, CX               \
	JNZ  loop                  \
	VZEROUPPER                 \
	RET

// ADDPAIRSTEP gathers the products with the real parts of four factors in Y0 and
// with the imaginary parts in Y1, whose parts then change places.
#define ADDPAIRSTEP(AT, FMA, SWAP, KIND, ADDSUB) \
	VMOVUPD AT(DI), Y0         \
	VMOVUPD AT(SI), Y2         \
	FMA Y2, Y8, Y0             \
	VXORPD Y1, Y1, Y1          \
	FMA Y2, Y9, Y1             \
	VMOVUPD AT(SI)(R8*1), Y3   \
	FMA Y3, Y10, Y0            \
	FMA Y3, Y11, Y1            \
	VMOVUPD AT(SI)(R8*2), Y4   \
	FMA Y4, Y12, Y0            \
	FMA Y4, Y13, Y1            \
	VMOVUPD AT(SI)(R9*1), Y5   \
	FMA Y5, Y14, Y0            \
	FMA Y5, Y15, Y1            \
	SWAP KIND, Y1, Y1          \
	ADDSUB Y1, Y0, Y0          \
	VMOVUPD Y0, AT(DI)

// ADDPAIRS adds four rows of complex elements.
#define ADDPAIRS(FMA, CAST, SIZE, SWAP, KIND, ADDSUB) \
	ADDARGS                    \
	CAST 0*SIZE(DX), Y8        \
	CAST 1*SIZE(DX), Y9        \
	CAST 2*SIZE(DX), Y10       \
	CAST 3*SIZE(DX), Y11       \
	CAST 4*SIZE(DX), Y12       \
	CAST 5*SIZE(DX), Y13       \
	CAST 6*SIZE(DX), Y14       \
	CAST 7*SIZE(DX), Y15       \
loop:                          \
	ADDPAIRSTEP(0, FMA, SWAP, KIND, ADDSUB)  \
	ADDPAIRSTEP(32, FMA, SWAP, KIND, ADDSUB) \
	ADDQ $64, SI               \
	ADDQ $64, DI               \
	SUBQ $64, CX               \
	JNZ  loop                  \
	VZEROUPPER                 \
	RET

// func dotRowsF64(s, a, x *float64, stride, n int)
TEXT ·dotRowsF64(SB), NOSPLIT, $0-40
	DOTROWS(VFMADD231PD, VADDPD)
	VHADDPD Y2, Y0, Y0
	VHADDPD Y6, Y4, Y4
	VPERM2F128 $0x20, Y4, Y0, Y1
	VPERM2F128 $0x31, Y4, Y0, Y2
	VADDPD Y2, Y1, Y0
	VMOVUPD Y0, (DI)
	VZEROUPPER
	RET

// func dotRowsF32(s, a, x *float32, stride, n int)
TEXT ·dotRowsF32(SB), NOSPLIT, $0-40
	DOTROWS(VFMADD231PS, VADDPS)
	VHADDPS Y2, Y0, Y0
	VHADDPS Y6, Y4, Y4
	VHADDPS Y4, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS X1, X0, X0
	VMOVUPS X0, (DI)
	VZEROUPPER
	RET

// func dotPairRowsF64(s, a, x *float64, stride, n int)
TEXT ·dotPairRowsF64(SB), NOSPLIT, $0-40
	DOTPAIRS(VFMADD231PD, VPERMILPD, $5)
	HALVE64(Y0, X0, 0)
	HALVE64(Y1, X1, 16)
	HALVE64(Y2, X2, 32)
	HALVE64(Y3, X3, 48)
	HALVE64(Y4, X4, 64)
	HALVE64(Y5, X5, 80)
	HALVE64(Y6, X6, 96)
	HALVE64(Y7, X7, 112)
	VZEROUPPER
	RET

// func dotPairRowsF32(s, a, x *float32, stride, n int)
TEXT ·dotPairRowsF32(SB), NOSPLIT, $0-40
	DOTPAIRS(VFMADD231PS, VPERMILPS, $0xB1)
	HALVE32(Y0, X0, 0)
	HALVE32(Y1, X1, 8)
	HALVE32(Y2, X2, 16)
	HALVE32(Y3, X3, 24)
	HALVE32(Y4, X4, 32)
	HALVE32(Y5, X5, 40)
	HALVE32(Y6, X6, 48)
	HALVE32(Y7, X7, 56)
	VZEROUPPER
	RET

// func addRowsF64(y, a, c *float64, stride, n int)
TEXT ·addRowsF64(SB), NOSPLIT, $0-40
	ADDROWS(VFMADD231PD, VBROADCASTSD, 8)

// func addRowsF32(y, a, c *float32, stride, n int)
TEXT ·addRowsF32(SB), NOSPLIT, $0-40
	ADDROWS(VFMADD231PS, VBROADCASTSS, 4)

// func addPairRowsF64(y, a, c *float64, stride, n int)
TEXT ·addPairRowsF64(SB), NOSPLIT, $0-40
	ADDPAIRS(VFMADD231PD, VBROADCASTSD, 8, VPERMILPD, $5, VADDSUBPD)

// func addPairRowsF32(y, a, c *float32, stride, n int)
TEXT ·addPairRowsF32(SB), NOSPLIT, $0-40
	ADDPAIRS(VFMADD231PS, VBROADCASTSS, 4, VPERMILPS, $0xB1, VADDSUBPS)
