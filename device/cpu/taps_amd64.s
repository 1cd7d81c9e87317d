#include "textflag.h"

// Sums of scaled runs, dst = Σ c·src or dst += Σ c·src. Taps go one by one, and
// every element is rounded in the same way, wherever it is.

#define TAPARGS \
	MOVQ dst+0(FP), DI   \
	MOVQ src+8(FP), SI   \
	MOVQ c+16(FP), DX    \
	MOVQ taps+24(FP), R8 \
	MOVQ n+32(FP), CX    \
	MOVQ add+40(FP), R9  \
	XORQ AX, AX

// TAP takes the run and the factor of tap R10.
#define TAP(CAST, SIZE) \
	MOVQ (SI)(R10*8), R11     \
	CAST (DX)(R10*SIZE), Y15  \
	ADDQ AX, R11              \
	INCQ R10

// LAST compares with the number of taps.
#define LAST \
	CMPQ R10, R8

#define DONE(N) \
	ADDQ $N, AX \
	SUBQ $N, CX

#define ALL(OP) \
	OP(0, Y0)   \
	OP(32, Y1)  \
	OP(64, Y2)  \
	OP(96, Y3)  \
	OP(128, Y4) \
	OP(160, Y5) \
	OP(192, Y6) \
	OP(224, Y7)

#define HALF(OP) \
	OP(0, Y0)   \
	OP(32, Y1)  \
	OP(64, Y2)  \
	OP(96, Y3)

#define GET(AT, Y) VMOVUPD AT(DI)(AX*1), Y
#define PUT(AT, Y) VMOVUPD Y, AT(DI)(AX*1)
#define NIL(AT, Y) VXORPD Y, Y, Y
#define FMA64(AT, Y) VFMADD231PD AT(R11), Y15, Y
#define FMA32(AT, Y) VFMADD231PS AT(R11), Y15, Y

#define TAPS(CAST, SIZE, MAC, MOV, SMAC) \
	TAPARGS              \
wide:                    \
	CMPQ CX, $256        \
	JLT  half            \
	XORQ R10, R10        \
	TESTQ R9, R9         \
	JZ   wideNil         \
	ALL(GET)             \
	JMP  wideTap         \
wideNil:                 \
	ALL(NIL)             \
wideTap:                 \
	TAP(CAST, SIZE)      \
	ALL(MAC)             \
	LAST                 \
	JLT  wideTap         \
	ALL(PUT)             \
	DONE(256)            \
	JMP  wide            \
half:                    \
	CMPQ CX, $128        \
	JLT  one             \
	XORQ R10, R10        \
	TESTQ R9, R9         \
	JZ   halfNil         \
	HALF(GET)            \
	JMP  halfTap         \
halfNil:                 \
	HALF(NIL)            \
halfTap:                 \
	TAP(CAST, SIZE)      \
	HALF(MAC)            \
	LAST                 \
	JLT  halfTap         \
	HALF(PUT)            \
	DONE(128)            \
one:                     \
	CMPQ CX, $32         \
	JLT  single          \
	XORQ R10, R10        \
	NIL(0, Y0)           \
	TESTQ R9, R9         \
	JZ   oneTap          \
	GET(0, Y0)           \
oneTap:                  \
	TAP(CAST, SIZE)      \
	MAC(0, Y0)           \
	LAST                 \
	JLT  oneTap          \
	PUT(0, Y0)           \
	DONE(32)             \
	JMP  one             \
single:                  \
	TESTQ CX, CX         \
	JZ   end             \
	XORQ R10, R10        \
	NIL(0, Y0)           \
	TESTQ R9, R9         \
	JZ   singleTap       \
	MOV (DI)(AX*1), X0   \
singleTap:               \
	TAP(CAST, SIZE)      \
	SMAC (R11), X15, X0  \
	LAST                 \
	JLT  singleTap       \
	MOV X0, (DI)(AX*1)   \
	DONE(SIZE)           \
	JMP  single          \
end:                     \
	VZEROUPPER           \
	RET

// func tapsF64(dst *float64, src *unsafe.Pointer, c *float64, taps, n, add int)
TEXT ·tapsF64(SB), NOSPLIT, $0-48
	TAPS(VBROADCASTSD, 8, FMA64, VMOVSD, VFMADD231SD)

// func tapsF32(dst *float32, src *unsafe.Pointer, c *float32, taps, n, add int)
TEXT ·tapsF32(SB), NOSPLIT, $0-48
	TAPS(VBROADCASTSS, 4, FMA32, VMOVSS, VFMADD231SS)
