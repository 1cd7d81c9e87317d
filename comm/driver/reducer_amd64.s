#include "textflag.h"

// Each function works on n bytes, a multiple of 128, at any alignment.

#define ARGS3 \
	MOVQ d+0(FP), DI  \
	MOVQ a+8(FP), SI  \
	MOVQ b+16(FP), DX \
	MOVQ n+24(FP), CX

#define LOAD4 \
	VMOVDQU 0(SI), Y0  \
	VMOVDQU 32(SI), Y1 \
	VMOVDQU 64(SI), Y2 \
	VMOVDQU 96(SI), Y3

#define FOLD4(OP) \
	OP 0(DX), Y0, Y0  \
	OP 32(DX), Y1, Y1 \
	OP 64(DX), Y2, Y2 \
	OP 96(DX), Y3, Y3

#define STORE4(OP, P) \
	OP Y0, 0(P)  \
	OP Y1, 32(P) \
	OP Y2, 64(P) \
	OP Y3, 96(P)

#define FOLDER(OP) \
	ARGS3               \
loop:                   \
	LOAD4               \
	FOLD4(OP)           \
	STORE4(VMOVDQU, DI) \
	ADDQ $128, SI       \
	ADDQ $128, DX       \
	ADDQ $128, DI       \
	SUBQ $128, CX       \
	JNZ  loop           \
	VZEROUPPER          \
	RET

#define TWICE(OP, MOV) \
	MOVQ d+0(FP), DI  \
	MOVQ e+8(FP), R8  \
	MOVQ a+16(FP), SI \
	MOVQ b+24(FP), DX \
	MOVQ n+32(FP), CX \
loop:                 \
	LOAD4             \
	FOLD4(OP)         \
	STORE4(MOV, DI)   \
	STORE4(MOV, R8)   \
	ADDQ $128, SI     \
	ADDQ $128, DX     \
	ADDQ $128, DI     \
	ADDQ $128, R8     \
	SUBQ $128, CX     \
	JNZ  loop         \
	SFENCE            \
	VZEROUPPER        \
	RET

// func addF32(d, a, b unsafe.Pointer, n int)
TEXT ·addF32(SB), NOSPLIT, $0-32
	FOLDER(VADDPS)

// func addF64(d, a, b unsafe.Pointer, n int)
TEXT ·addF64(SB), NOSPLIT, $0-32
	FOLDER(VADDPD)

// func addI32(d, a, b unsafe.Pointer, n int)
TEXT ·addI32(SB), NOSPLIT, $0-32
	FOLDER(VPADDD)

// func addI64(d, a, b unsafe.Pointer, n int)
TEXT ·addI64(SB), NOSPLIT, $0-32
	FOLDER(VPADDQ)

// func addU8(d, a, b unsafe.Pointer, n int)
TEXT ·addU8(SB), NOSPLIT, $0-32
	FOLDER(VPADDB)

// func add2F32(d, e, a, b unsafe.Pointer, n int)
TEXT ·add2F32(SB), NOSPLIT, $0-40
	TWICE(VADDPS, VMOVDQU)

// func add2F64(d, e, a, b unsafe.Pointer, n int)
TEXT ·add2F64(SB), NOSPLIT, $0-40
	TWICE(VADDPD, VMOVDQU)

// func stream2F32(d, e, a, b unsafe.Pointer, n int)
// d and e are multiples of 32.
TEXT ·stream2F32(SB), NOSPLIT, $0-40
	TWICE(VADDPS, VMOVNTDQ)

// func stream2F64(d, e, a, b unsafe.Pointer, n int)
// d and e are multiples of 32.
TEXT ·stream2F64(SB), NOSPLIT, $0-40
	TWICE(VADDPD, VMOVNTDQ)
