#include "textflag.h"

// STEP adds the products of six elements of a strip of A with two registers of a
// strip of B.
#define STEP(K, CAST, SIZE, FMA) \
	VMOVUPD (64*K)(BX), Y0          \
	VMOVUPD (64*K+32)(BX), Y1       \
	CAST (6*K+0)*SIZE(SI), Y2       \
	FMA Y0, Y2, Y4                  \
	FMA Y1, Y2, Y5                  \
	CAST (6*K+1)*SIZE(SI), Y3       \
	FMA Y0, Y3, Y6                  \
	FMA Y1, Y3, Y7                  \
	CAST (6*K+2)*SIZE(SI), Y2       \
	FMA Y0, Y2, Y8                  \
	FMA Y1, Y2, Y9                  \
	CAST (6*K+3)*SIZE(SI), Y3       \
	FMA Y0, Y3, Y10                 \
	FMA Y1, Y3, Y11                 \
	CAST (6*K+4)*SIZE(SI), Y2       \
	FMA Y0, Y2, Y12                 \
	FMA Y1, Y2, Y13                 \
	CAST (6*K+5)*SIZE(SI), Y3       \
	FMA Y0, Y3, Y14                 \
	FMA Y1, Y3, Y15

#define CLEAR(A, B) \
	VXORPD A, A, A \
	VXORPD B, B, B

// ROW adds the sums of a row, times alpha, to C.
#define ROW(FMA, A, B) \
	VMOVUPD (DI), Y1   \
	VMOVUPD 32(DI), Y2 \
	FMA A, Y0, Y1      \
	FMA B, Y0, Y2      \
	VMOVUPD Y1, (DI)   \
	VMOVUPD Y2, 32(DI) \
	ADDQ R8, DI

#define TILE(CAST, SIZE, FMA) \
	MOVQ c+0(FP), DI       \
	MOVQ a+8(FP), SI       \
	MOVQ b+16(FP), BX      \
	MOVQ stride+24(FP), R8 \
	MOVQ depth+32(FP), CX  \
	CLEAR(Y4, Y5)          \
	CLEAR(Y6, Y7)          \
	CLEAR(Y8, Y9)          \
	CLEAR(Y10, Y11)        \
	CLEAR(Y12, Y13)        \
	CLEAR(Y14, Y15)        \
loop:                      \
	STEP(0, CAST, SIZE, FMA) \
	STEP(1, CAST, SIZE, FMA) \
	STEP(2, CAST, SIZE, FMA) \
	STEP(3, CAST, SIZE, FMA) \
	ADDQ $(24*SIZE), SI    \
	ADDQ $256, BX          \
	SUBQ $4, CX            \
	JNZ  loop              \
	CAST alpha+40(FP), Y0  \
	ROW(FMA, Y4, Y5)       \
	ROW(FMA, Y6, Y7)       \
	ROW(FMA, Y8, Y9)       \
	ROW(FMA, Y10, Y11)     \
	ROW(FMA, Y12, Y13)     \
	ROW(FMA, Y14, Y15)     \
	VZEROUPPER             \
	RET

// func tileF64(c, a, b *float64, stride, depth int, alpha float64)
TEXT ·tileF64(SB), NOSPLIT, $0-48
	TILE(VBROADCASTSD, 8, VFMADD231PD)

// func tileF32(c, a, b *float32, stride, depth int, alpha float32)
TEXT ·tileF32(SB), NOSPLIT, $0-44
	TILE(VBROADCASTSS, 4, VFMADD231PS)
