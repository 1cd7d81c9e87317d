#include "textflag.h"

// Loops over n bytes, a multiple of 64, at any alignment. Products are rounded
// before they are added, as in plain Go, so that an element does not depend on
// whether it is among the last ones.

#define ARGS \
	MOVQ dst+0(FP), DI \
	MOVQ x+8(FP), SI   \
	MOVQ y+16(FP), DX  \
	MOVQ n+24(FP), CX

#define NEXT \
	ADDQ $64, DI \
	ADDQ $64, SI \
	ADDQ $64, DX \
	SUBQ $64, CX

#define MULTIPLY(MUL) \
	ARGS               \
loop:                  \
	VMOVUPD (SI), Y0   \
	VMOVUPD 32(SI), Y1 \
	MUL (DX), Y0, Y0   \
	MUL 32(DX), Y1, Y1 \
	VMOVUPD Y0, (DI)   \
	VMOVUPD Y1, 32(DI) \
	NEXT               \
	JNZ  loop          \
	VZEROUPPER         \
	RET

#define SCALE(MUL) \
loop:                  \
	MUL (SI), Y8, Y0   \
	MUL 32(SI), Y8, Y1 \
	VMOVUPD Y0, (DI)   \
	VMOVUPD Y1, 32(DI) \
	ADDQ $64, DI       \
	ADDQ $64, SI       \
	SUBQ $64, CX       \
	JNZ  loop          \
	VZEROUPPER         \
	RET

#define SCALEADD(MUL, ADD) \
loop:                  \
	MUL (SI), Y8, Y0   \
	MUL 32(SI), Y8, Y1 \
	ADD (DX), Y0, Y0   \
	ADD 32(DX), Y1, Y1 \
	VMOVUPD Y0, (DI)   \
	VMOVUPD Y1, 32(DI) \
	NEXT               \
	JNZ  loop          \
	VZEROUPPER         \
	RET

#define COMBINE(MUL, ADD) \
loop:                  \
	MUL (SI), Y8, Y0   \
	MUL 32(SI), Y8, Y1 \
	MUL (DX), Y9, Y2   \
	MUL 32(DX), Y9, Y3 \
	ADD Y2, Y0, Y0     \
	ADD Y3, Y1, Y1     \
	VMOVUPD Y0, (DI)   \
	VMOVUPD Y1, 32(DI) \
	NEXT               \
	JNZ  loop          \
	VZEROUPPER         \
	RET

// func mulF64(dst, x, y *float64, n int)
TEXT ·mulF64(SB), NOSPLIT, $0-32
	MULTIPLY(VMULPD)

// func mulF32(dst, x, y *float32, n int)
TEXT ·mulF32(SB), NOSPLIT, $0-32
	MULTIPLY(VMULPS)

// func scaleF64(dst, x *float64, n int, a float64)
TEXT ·scaleF64(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSD a+24(FP), Y8
	SCALE(VMULPD)

// func scaleF32(dst, x *float32, n int, a float32)
TEXT ·scaleF32(SB), NOSPLIT, $0-28
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSS a+24(FP), Y8
	SCALE(VMULPS)

// func scaleAddF64(dst, x, y *float64, n int, a float64)
TEXT ·scaleAddF64(SB), NOSPLIT, $0-40
	ARGS
	VBROADCASTSD a+32(FP), Y8
	SCALEADD(VMULPD, VADDPD)

// func scaleAddF32(dst, x, y *float32, n int, a float32)
TEXT ·scaleAddF32(SB), NOSPLIT, $0-36
	ARGS
	VBROADCASTSS a+32(FP), Y8
	SCALEADD(VMULPS, VADDPS)

// func combineF64(dst, x, y *float64, n int, a, b float64)
TEXT ·combineF64(SB), NOSPLIT, $0-48
	ARGS
	VBROADCASTSD a+32(FP), Y8
	VBROADCASTSD b+40(FP), Y9
	COMBINE(VMULPD, VADDPD)

// func combineF32(dst, x, y *float32, n int, a, b float32)
TEXT ·combineF32(SB), NOSPLIT, $0-40
	ARGS
	VBROADCASTSS a+32(FP), Y8
	VBROADCASTSS b+36(FP), Y9
	COMBINE(VMULPS, VADDPS)

// sqrtF64 takes the roots of n bytes of numbers.
TEXT ·sqrtF64(SB), NOSPLIT, $0-16
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), CX
loop:
	VSQRTPD (DI), Y0
	VSQRTPD 32(DI), Y1
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	ADDQ $64, DI
	SUBQ $64, CX
	JNZ  loop
	VZEROUPPER
	RET
