#include "textflag.h"

// Sums in 64 bits over n bytes, a multiple of 128, at any alignment. Four
// registers of sums do not wait for each other.

#define ZERO4 \
	VXORPD Y0, Y0, Y0 \
	VXORPD Y1, Y1, Y1 \
	VXORPD Y2, Y2, Y2 \
	VXORPD Y3, Y3, Y3

// JOIN leaves the sum of four registers in X0, in two parts.
#define JOIN \
	VADDPD Y1, Y0, Y0       \
	VADDPD Y3, Y2, Y2       \
	VADDPD Y2, Y0, Y0       \
	VEXTRACTF128 $1, Y0, X1 \
	VADDPD X1, X0, X0

#define DOT64(AT, Y, TMP) \
	VMOVUPD AT(SI), TMP        \
	VFMADD231PD AT(DX), TMP, Y

#define DOT32(AT, Y, TMP, TMP2) \
	VCVTPS2PD AT(SI), TMP      \
	VCVTPS2PD AT(DX), TMP2     \
	VFMADD231PD TMP, TMP2, Y

#define SUM32(AT, Y, TMP) \
	VCVTPS2PD AT(SI), TMP \
	VADDPD TMP, Y, Y

// PAIRS64 and PAIRS32 add to A the products of parts with parts of the same kind,
// and to B with those of the other.
#define PAIRS64(AT, A, B) \
	VMOVUPD AT(SI), Y4    \
	VMOVUPD AT(DX), Y5    \
	VPERMILPD $5, Y5, Y6  \
	VFMADD231PD Y4, Y5, A \
	VFMADD231PD Y4, Y6, B

#define PAIRS32(AT, A, B) \
	VCVTPS2PD AT(SI), Y4  \
	VCVTPS2PD AT(DX), Y5  \
	VPERMILPD $5, Y5, Y6  \
	VFMADD231PD Y4, Y5, A \
	VFMADD231PD Y4, Y6, B

// JOINPAIRS stores the sums of A and B, four numbers.
#define JOINPAIRS \
	VADDPD Y2, Y0, Y0       \
	VADDPD Y3, Y1, Y1       \
	VEXTRACTF128 $1, Y0, X4 \
	VEXTRACTF128 $1, Y1, X5 \
	VADDPD X4, X0, X0       \
	VADDPD X5, X1, X1       \
	VMOVUPD X0, (DI)        \
	VMOVUPD X1, 16(DI)      \
	VZEROUPPER              \
	RET

// func dotF64(x, y *float64, n int) float64
TEXT ·dotF64(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), SI
	MOVQ y+8(FP), DX
	MOVQ n+16(FP), CX
	ZERO4
loop:
	DOT64(0, Y0, Y4)
	DOT64(32, Y1, Y5)
	DOT64(64, Y2, Y6)
	DOT64(96, Y3, Y7)
	ADDQ $128, SI
	ADDQ $128, DX
	SUBQ $128, CX
	JNZ  loop
	JOIN
	VHADDPD X0, X0, X0
	VMOVSD X0, ret+24(FP)
	VZEROUPPER
	RET

// func dotF32(x, y *float32, n int) float64
TEXT ·dotF32(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), SI
	MOVQ y+8(FP), DX
	MOVQ n+16(FP), CX
	ZERO4
loop:
	DOT32(0, Y0, Y4, Y8)
	DOT32(16, Y1, Y5, Y9)
	DOT32(32, Y2, Y6, Y10)
	DOT32(48, Y3, Y7, Y11)
	DOT32(64, Y0, Y4, Y8)
	DOT32(80, Y1, Y5, Y9)
	DOT32(96, Y2, Y6, Y10)
	DOT32(112, Y3, Y7, Y11)
	ADDQ $128, SI
	ADDQ $128, DX
	SUBQ $128, CX
	JNZ  loop
	JOIN
	VHADDPD X0, X0, X0
	VMOVSD X0, ret+24(FP)
	VZEROUPPER
	RET

// func dotPairsF64(s *[4]float64, x, y *float64, n int)
TEXT ·dotPairsF64(SB), NOSPLIT, $0-32
	MOVQ s+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ y+16(FP), DX
	MOVQ n+24(FP), CX
	ZERO4
loop:
	PAIRS64(0, Y0, Y1)
	PAIRS64(32, Y2, Y3)
	PAIRS64(64, Y0, Y1)
	PAIRS64(96, Y2, Y3)
	ADDQ $128, SI
	ADDQ $128, DX
	SUBQ $128, CX
	JNZ  loop
	JOINPAIRS

// func dotPairsF32(s *[4]float64, x, y *float32, n int)
TEXT ·dotPairsF32(SB), NOSPLIT, $0-32
	MOVQ s+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ y+16(FP), DX
	MOVQ n+24(FP), CX
	ZERO4
loop:
	PAIRS32(0, Y0, Y1)
	PAIRS32(16, Y2, Y3)
	PAIRS32(32, Y0, Y1)
	PAIRS32(48, Y2, Y3)
	PAIRS32(64, Y0, Y1)
	PAIRS32(80, Y2, Y3)
	PAIRS32(96, Y0, Y1)
	PAIRS32(112, Y2, Y3)
	ADDQ $128, SI
	ADDQ $128, DX
	SUBQ $128, CX
	JNZ  loop
	JOINPAIRS

// func sumF64(s *[2]float64, x *float64, n int)
TEXT ·sumF64(SB), NOSPLIT, $0-24
	MOVQ s+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	ZERO4
loop:
	VADDPD 0(SI), Y0, Y0
	VADDPD 32(SI), Y1, Y1
	VADDPD 64(SI), Y2, Y2
	VADDPD 96(SI), Y3, Y3
	ADDQ $128, SI
	SUBQ $128, CX
	JNZ  loop
	JOIN
	VMOVUPD X0, (DI)
	VZEROUPPER
	RET

// func sumF32(s *[2]float64, x *float32, n int)
TEXT ·sumF32(SB), NOSPLIT, $0-24
	MOVQ s+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	ZERO4
loop:
	SUM32(0, Y0, Y4)
	SUM32(16, Y1, Y5)
	SUM32(32, Y2, Y6)
	SUM32(48, Y3, Y7)
	SUM32(64, Y0, Y4)
	SUM32(80, Y1, Y5)
	SUM32(96, Y2, Y6)
	SUM32(112, Y3, Y7)
	ADDQ $128, SI
	SUBQ $128, CX
	JNZ  loop
	JOIN
	VMOVUPD X0, (DI)
	VZEROUPPER
	RET

// func addColumnsF64(s, x *float64, stride, n int)
TEXT ·addColumnsF64(SB), NOSPLIT, $0-32
	MOVQ s+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ stride+16(FP), R8
	MOVQ n+24(FP), CX
	LEAQ (R8)(R8*2), R9
loop:
	VMOVUPD (SI), Y0
	VADDPD (SI)(R8*1), Y0, Y0
	VMOVUPD (SI)(R8*2), Y1
	VADDPD (SI)(R9*1), Y1, Y1
	VADDPD Y1, Y0, Y0
	VADDPD (DI), Y0, Y0
	VMOVUPD Y0, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $32, CX
	JNZ  loop
	VZEROUPPER
	RET

// func addColumnsF32(s *float64, x *float32, stride, n int)
TEXT ·addColumnsF32(SB), NOSPLIT, $0-32
	MOVQ s+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ stride+16(FP), R8
	MOVQ n+24(FP), CX
	LEAQ (R8)(R8*2), R9
loop:
	VCVTPS2PD (SI), Y0
	VCVTPS2PD (SI)(R8*1), Y1
	VCVTPS2PD (SI)(R8*2), Y2
	VCVTPS2PD (SI)(R9*1), Y3
	VADDPD Y1, Y0, Y0
	VADDPD Y3, Y2, Y2
	VADDPD Y2, Y0, Y0
	VADDPD (DI), Y0, Y0
	VMOVUPD Y0, (DI)
	ADDQ $16, SI
	ADDQ $32, DI
	SUBQ $16, CX
	JNZ  loop
	VZEROUPPER
	RET
