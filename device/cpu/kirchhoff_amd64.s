#include "textflag.h"

// Each function takes a run of points, a multiple of 4 or 8 at any alignment, and one
// source with one receiver or with two. Two share the image and the tables of the
// source, which are read once.
//
// Registers: AX image, SI and R10 the traces, DX times of the source, R12 and R13 its
// factors, BX times of the receivers, R14 and R15 their factors. All but traces point
// to the end of the run, and CX counts bytes up to 0. DI is CX for the second receiver.
// R10 is 0 without one, R12 is 0 without weights.

#define BEGIN \
	MOVQ run+0(FP), R8   \
	MOVQ 0(R8), AX       \
	MOVQ 8(R8), SI       \
	MOVQ 16(R8), R10     \
	MOVQ 24(R8), DX      \
	MOVQ 32(R8), R12     \
	MOVQ 40(R8), R13     \
	MOVQ 48(R8), BX      \
	MOVQ 56(R8), R14     \
	MOVQ 64(R8), R15     \
	MOVQ 72(R8), DI      \
	MOVQ 80(R8), CX      \
	MOVQ 88(R8), X14     \
	ADDQ CX, AX          \
	ADDQ CX, DX          \
	ADDQ CX, BX          \
	ADDQ CX, R13         \
	ADDQ CX, R14         \
	ADDQ CX, R15         \
	SUBQ CX, DI          \
	TESTQ R12, R12       \
	JZ   begin           \
	ADDQ CX, R12         \
begin:                   \
	NEGQ CX

// LOOPS are the four loops of a function. WEIGHT sets its second argument to the
// weights of the receiver at its first, and SCALE multiplies them with the image.
// TRACE does the work for the receiver, the values and the trace that it is given.
// ALL are the values without weights.
#define LOOPS(WEIGHT, SCALE, TRACE, STORE, ALL) \
	TESTQ R12, R12           \
	JZ   plain               \
	TESTQ R10, R10           \
	JZ   single              \
both:                        \
	FACTORS                  \
	WEIGHT(CX, Y0)           \
	WEIGHT(DI, Y12)          \
	VPOR Y12, Y0, Y1         \
	VPTEST Y1, Y1            \
	JZ   nextBoth            \
	POINTS                   \
	SCALE(Y0)                \
	SCALE(Y12)               \
	TRACE(CX, Y0, SI)        \
	TRACE(DI, Y12, R10)      \
	STORE                    \
nextBoth:                    \
	NEXT                     \
	JNZ  both                \
	JMP  end                 \
single:                      \
	FACTORS                  \
	WEIGHT(CX, Y0)           \
	VPTEST Y0, Y0            \
	JZ   nextSingle          \
	POINTS                   \
	SCALE(Y0)                \
	TRACE(CX, Y0, SI)        \
	STORE                    \
nextSingle:                  \
	NEXT                     \
	JNZ  single              \
	JMP  end                 \
plain:                       \
	TESTQ R10, R10           \
	JZ   plainSingle         \
plainBoth:                   \
	POINTS                   \
	TRACE(CX, ALL, SI)       \
	TRACE(DI, ALL, R10)      \
	STORE                    \
	NEXT                     \
	JNZ  plainBoth           \
	JMP  end                 \
plainSingle:                 \
	POINTS                   \
	TRACE(CX, ALL, SI)       \
	STORE                    \
	NEXT                     \
	JNZ  plainSingle         \
end:                         \
	VZEROUPPER               \
	RET

// FACTORS and POINTS fetch the tables of the source ahead: each run begins in another
// row, and the processor must find out anew that they are read in order.
#define FACTORS \
	VMOVUPD (R12)(CX*1), Y9   \
	VMOVUPD (R13)(CX*1), Y10  \
	PREFETCHT0 768(R12)(CX*1) \
	PREFETCHT0 768(R13)(CX*1)

#define POINTS \
	VMOVUPD (AX)(CX*1), Y11   \
	VMOVUPD (DX)(CX*1), Y8    \
	PREFETCHT0 768(DX)(CX*1)

#define NEXT \
	ADDQ $32, DI             \
	ADDQ $32, CX

#define WEIGHT64(R, W) \
	VMULPD (R14)(R*1), Y9, W       \
	VFMADD231PD (R15)(R*1), Y10, W

#define WEIGHT32(R, W) \
	VMULPS (R14)(R*1), Y9, W       \
	VFMADD231PS (R15)(R*1), Y10, W

// TIMES sets Y1 to the times, X2 or Y2 to the samples before them, at most X14 or
// Y14, and Y3 to the rest.
#define TIMES64(R, CLIP) \
	VADDPD (BX)(R*1), Y8, Y1   \
	CLIP                       \
	VCVTTPD2DQY Y1, X2         \
	VCVTDQ2PD X2, Y3           \
	VSUBPD Y3, Y1, Y3          \
	VPMINUD X14, X2, X2

#define TIMES32(R, CLIP) \
	VADDPS (BX)(R*1), Y8, Y1   \
	CLIP                       \
	VCVTTPS2DQ Y1, Y2          \
	VCVTDQ2PS Y2, Y3           \
	VSUBPS Y3, Y1, Y3          \
	VPMINUD Y14, Y2, Y2

#define CLIP64 VMINPD Y15, Y1, Y1 // NaN too is the end
#define CLIP32 VMINPS Y15, Y1, Y1
#define NONE
#define KEEP(W)

// TWO splits the integers of R8 to R9 and R8.
#define TWO \
	MOVL R8, R9          \
	SHRQ $32, R8

#define ADD64(T, R, X) \
	VADDPD (T)(R*1), X, X  \
	VMOVUPD X, (T)(R*1)

#define ADD32(T, R, X) \
	VMOVSD (T)(R*8), X6    \
	VADDPS X, X6, X6       \
	VMOVSD X6, (T)(R*8)

// SPREAD adds values V and values times rest to the sums of their samples.
#define SPREAD64(R, V, T) \
	TIMES64(R, CLIP64)      \
	VMULPD V, Y3, Y3        \
	VPSLLD $4, X2, X2       \
	VUNPCKLPD Y3, V, Y4     \
	VUNPCKHPD Y3, V, Y5     \
	VMOVQ X2, R8            \
	TWO                     \
	VEXTRACTF128 $1, Y4, X6 \
	VEXTRACTF128 $1, Y5, X7 \
	ADD64(T, R9, X4)        \
	ADD64(T, R8, X5)        \
	VPEXTRQ $1, X2, R8      \
	TWO                     \
	ADD64(T, R9, X6)        \
	ADD64(T, R8, X7)

#define FOUR32(T, A, B) \
	VMOVQ X2, R8         \
	TWO                  \
	ADD32(T, R9, A)      \
	VPERMILPD $1, A, A   \
	ADD32(T, R8, A)      \
	VPEXTRQ $1, X2, R8   \
	TWO                  \
	ADD32(T, R9, B)      \
	VPERMILPD $1, B, B   \
	ADD32(T, R8, B)

#define SPREAD32(R, V, T) \
	TIMES32(R, CLIP32)      \
	VMULPS V, Y3, Y3        \
	VUNPCKLPS Y3, V, Y4     \
	VUNPCKHPS Y3, V, Y5     \
	VEXTRACTF128 $1, Y4, X7 \
	VEXTRACTF128 $1, Y5, X9 \
	FOUR32(T, X4, X5)       \
	VEXTRACTI128 $1, Y2, X2 \
	FOUR32(T, X7, X9)

#define SCALE64(W) VMULPD Y11, W, W
#define SCALE32(W) VMULPS Y11, W, W

// func spreadF64(run *pointRun)
TEXT ·spreadF64(SB), NOSPLIT, $0-8
	BEGIN
	VPBROADCASTD X14, X14
	VCVTDQ2PD X14, Y15
	LOOPS(WEIGHT64, SCALE64, SPREAD64, NONE, Y11)

// func spreadF32(run *pointRun)
TEXT ·spreadF32(SB), NOSPLIT, $0-8
	BEGIN
	VPBROADCASTD X14, Y14
	VCVTDQ2PS Y14, Y15
	LOOPS(WEIGHT32, SCALE32, SPREAD32, NONE, Y11)

// STACK adds the interpolated samples times W to Y11, and nothing beyond the end Y15.
// X14 or Y14 is the last sample that has a next.
#define STACK64(R, W, T) \
	TIMES64(R, NONE)                      \
	VMOVQ X2, R8                          \
	TWO                                   \
	VMOVUPD (T)(R9*8), X4                 \
	VMOVUPD (T)(R8*8), X5                 \
	VPEXTRQ $1, X2, R8                    \
	TWO                                   \
	VINSERTF128 $1, (T)(R9*8), Y4, Y4     \
	VINSERTF128 $1, (T)(R8*8), Y5, Y5     \
	VCMPPD $17, Y15, Y1, Y1               \
	VUNPCKLPD Y5, Y4, Y6                  \
	VUNPCKHPD Y5, Y4, Y7                  \
	VSUBPD Y6, Y7, Y7                     \
	VFMADD231PD Y3, Y7, Y6                \
	VANDPD Y1, Y6, Y6                     \
	VFMADD231PD W, Y6, Y11

#define PAIRS32(T, A, B) \
	VMOVQ X2, R8              \
	TWO                       \
	VMOVSD (T)(R9*4), A       \
	VMOVHPS (T)(R8*4), A, A   \
	VPEXTRQ $1, X2, R8        \
	TWO                       \
	VMOVSD (T)(R9*4), B       \
	VMOVHPS (T)(R8*4), B, B

#define STACK32(R, W, T) \
	TIMES32(R, NONE)             \
	PAIRS32(T, X4, X5)           \
	VEXTRACTI128 $1, Y2, X2      \
	PAIRS32(T, X6, X7)           \
	VINSERTF128 $1, X6, Y4, Y4   \
	VINSERTF128 $1, X7, Y5, Y5   \
	VCMPPS $17, Y15, Y1, Y1      \
	VSHUFPS $0x88, Y5, Y4, Y6    \
	VSHUFPS $0xDD, Y5, Y4, Y7    \
	VSUBPS Y6, Y7, Y7            \
	VFMADD231PS Y3, Y7, Y6       \
	VANDPS Y1, Y6, Y6            \
	VFMADD231PS W, Y6, Y11

#define STORE VMOVUPD Y11, (AX)(CX*1)

// func stackF64(run *pointRun)
TEXT ·stackF64(SB), NOSPLIT, $0-8
	BEGIN
	VPBROADCASTD X14, X14
	VCVTDQ2PD X14, Y15
	VPCMPEQD X0, X0, X0
	VCVTDQ2PD X0, Y13
	VPADDD X0, X14, X14
	VMULPD Y13, Y13, Y13 // (-1)² = 1
	LOOPS(WEIGHT64, KEEP, STACK64, STORE, Y13)

// func stackF32(run *pointRun)
TEXT ·stackF32(SB), NOSPLIT, $0-8
	BEGIN
	VPBROADCASTD X14, Y14
	VCVTDQ2PS Y14, Y15
	VPCMPEQD Y0, Y0, Y0
	VCVTDQ2PS Y0, Y13
	VPADDD Y0, Y14, Y14
	VMULPS Y13, Y13, Y13 // (-1)² = 1
	LOOPS(WEIGHT32, KEEP, STACK32, STORE, Y13)
