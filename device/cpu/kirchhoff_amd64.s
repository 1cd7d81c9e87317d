#include "textflag.h"

// Each function works on a run of points, a multiple of 4 or 8, at any alignment.
// Registers, after RUN: DI image, SI trace, DX and BX times, R12 and R13 the first
// factors of source and receiver, R15 and AX the second ones. All point to the end
// of the run, and CX counts bytes up to 0.

#define RUN \
	MOVQ run+0(FP), AX \
	MOVQ 0(AX), DI     \
	MOVQ 8(AX), SI     \
	MOVQ 16(AX), DX    \
	MOVQ 24(AX), BX    \
	MOVQ 32(AX), R12   \
	MOVQ 40(AX), R13   \
	MOVQ 48(AX), R15   \
	MOVQ 64(AX), R8    \
	MOVQ 72(AX), CX    \
	MOVQ 56(AX), AX    \
	ADDQ CX, DI        \
	ADDQ CX, DX        \
	ADDQ CX, BX        \
	TESTQ R12, R12     \
	JZ   begin         \
	ADDQ CX, R12       \
	ADDQ CX, R13       \
	ADDQ CX, R15       \
	ADDQ CX, AX        \
begin:                 \
	NEGQ CX

// WEIGHT sets Y0 to the weights.
#define WEIGHT64 \
	VMOVUPD (R12)(CX*1), Y0          \
	VMULPD (R13)(CX*1), Y0, Y0       \
	VMOVUPD (R15)(CX*1), Y4          \
	VFMADD231PD (AX)(CX*1), Y4, Y0

#define WEIGHT32 \
	VMOVUPS (R12)(CX*1), Y0          \
	VMULPS (R13)(CX*1), Y0, Y0       \
	VMOVUPS (R15)(CX*1), Y4          \
	VFMADD231PS (AX)(CX*1), Y4, Y0

// TIMES sets Y1 to the times, X2 or Y2 to the samples before them, at most X14 or
// Y14, and Y3 to the rest.
#define TIMES64(CLIP) \
	VMOVUPD (DX)(CX*1), Y1     \
	VADDPD (BX)(CX*1), Y1, Y1  \
	CLIP                       \
	VCVTTPD2DQY Y1, X2         \
	VCVTDQ2PD X2, Y3           \
	VSUBPD Y3, Y1, Y3          \
	VPMINUD X14, X2, X2

#define TIMES32(CLIP) \
	VMOVUPS (DX)(CX*1), Y1     \
	VADDPS (BX)(CX*1), Y1, Y1  \
	CLIP                       \
	VCVTTPS2DQ Y1, Y2          \
	VCVTDQ2PS Y2, Y3           \
	VSUBPS Y3, Y1, Y3          \
	VPMINUD Y14, Y2, Y2

#define CLIP64 VMINPD Y15, Y1, Y1 // NaN too is the end
#define CLIP32 VMINPS Y15, Y1, Y1
#define NOCLIP

// INDICES moves the four integers of X2 to R9, R8, R11 and R10.
#define INDICES \
	VMOVQ X2, R8         \
	VPEXTRQ $1, X2, R10  \
	MOVL R8, R9          \
	SHRQ $32, R8         \
	MOVL R10, R11        \
	SHRQ $32, R10

#define ADD64(OFF, R, X) \
	VADDPD OFF(SI)(R*1), X, X  \
	VMOVUPD X, OFF(SI)(R*1)

#define ADD32(OFF, R, X) \
	VMOVSD OFF(SI)(R*1), X6    \
	VADDPS X, X6, X6           \
	VMOVSD X6, OFF(SI)(R*1)

// SPREAD adds values Y0 and values times rest to the sums of their samples.
#define SPREAD64 \
	VMULPD Y0, Y3, Y3       \
	VPSLLD $5, X2, X2       \
	VUNPCKLPD Y3, Y0, Y4    \
	VUNPCKHPD Y3, Y0, Y5    \
	VEXTRACTF128 $1, Y4, X6 \
	VEXTRACTF128 $1, Y5, X7 \
	INDICES                 \
	ADD64(0, R9, X4)        \
	ADD64(16, R8, X5)       \
	ADD64(0, R11, X6)       \
	ADD64(16, R10, X7)

#define SPREAD32(A, B) \
	INDICES              \
	ADD32(0, R9, A)      \
	VPERMILPD $1, A, A   \
	ADD32(8, R8, A)      \
	ADD32(16, R11, B)    \
	VPERMILPD $1, B, B   \
	ADD32(24, R10, B)

#define SPREADS32 \
	VMULPS Y0, Y3, Y3       \
	VPSLLD $5, Y2, Y2       \
	VUNPCKLPS Y3, Y0, Y4    \
	VUNPCKHPS Y3, Y0, Y5    \
	VEXTRACTF128 $1, Y4, X7 \
	VEXTRACTF128 $1, Y5, X8 \
	SPREAD32(X4, X5)        \
	VEXTRACTI128 $1, Y2, X2 \
	SPREAD32(X7, X8)

// func spreadF64(run *pointRun)
TEXT ·spreadF64(SB), NOSPLIT, $0-8
	RUN
	MOVQ R8, X14
	VPBROADCASTD X14, X14
	VCVTDQ2PD X14, Y15
	TESTQ R12, R12
	JZ plain
weighted:
	WEIGHT64
	VMULPD (DI)(CX*1), Y0, Y0
	VPTEST Y0, Y0
	JZ next
	TIMES64(CLIP64)
	SPREAD64
next:
	ADDQ $32, CX
	JNZ weighted
	VZEROUPPER
	RET
plain:
	VMOVUPD (DI)(CX*1), Y0
	TIMES64(CLIP64)
	SPREAD64
	ADDQ $32, CX
	JNZ plain
	VZEROUPPER
	RET

// func spreadF32(run *pointRun)
TEXT ·spreadF32(SB), NOSPLIT, $0-8
	RUN
	MOVQ R8, X14
	VPBROADCASTD X14, Y14
	VCVTDQ2PS Y14, Y15
	TESTQ R12, R12
	JZ plain
weighted:
	WEIGHT32
	VMULPS (DI)(CX*1), Y0, Y0
	VPTEST Y0, Y0
	JZ next
	TIMES32(CLIP32)
	SPREADS32
next:
	ADDQ $32, CX
	JNZ weighted
	VZEROUPPER
	RET
plain:
	VMOVUPS (DI)(CX*1), Y0
	TIMES32(CLIP32)
	SPREADS32
	ADDQ $32, CX
	JNZ plain
	VZEROUPPER
	RET

// STACK sets Y6 to the interpolated samples, and to 0 beyond the end Y15. X14 or
// Y14 is the last sample that has a next.
#define STACK64 \
	INDICES                               \
	VMOVUPD (SI)(R9*8), X4                \
	VINSERTF128 $1, (SI)(R11*8), Y4, Y4   \
	VMOVUPD (SI)(R8*8), X5                \
	VINSERTF128 $1, (SI)(R10*8), Y5, Y5   \
	VCMPPD $17, Y15, Y1, Y1               \
	VUNPCKLPD Y5, Y4, Y6                  \
	VUNPCKHPD Y5, Y4, Y7                  \
	VSUBPD Y6, Y7, Y7                     \
	VFMADD231PD Y3, Y7, Y6                \
	VANDPD Y1, Y6, Y6

#define PAIRS32(A, B) \
	INDICES                    \
	VMOVSD (SI)(R9*4), A       \
	VMOVHPS (SI)(R8*4), A, A   \
	VMOVSD (SI)(R11*4), B      \
	VMOVHPS (SI)(R10*4), B, B

#define STACK32 \
	PAIRS32(X4, X5)              \
	VEXTRACTI128 $1, Y2, X2      \
	PAIRS32(X6, X7)              \
	VINSERTF128 $1, X6, Y4, Y4   \
	VINSERTF128 $1, X7, Y5, Y5   \
	VCMPPS $17, Y15, Y1, Y1      \
	VSHUFPS $0x88, Y5, Y4, Y6    \
	VSHUFPS $0xDD, Y5, Y4, Y7    \
	VSUBPS Y6, Y7, Y7            \
	VFMADD231PS Y3, Y7, Y6       \
	VANDPS Y1, Y6, Y6

// func stackF64(run *pointRun)
TEXT ·stackF64(SB), NOSPLIT, $0-8
	RUN
	MOVQ R8, X14
	VPBROADCASTD X14, X14
	VCVTDQ2PD X14, Y15
	VPCMPEQD X0, X0, X0
	VPADDD X0, X14, X14
	TESTQ R12, R12
	JZ plain
weighted:
	WEIGHT64
	VPTEST Y0, Y0
	JZ next
	TIMES64(NOCLIP)
	STACK64
	VMOVUPD (DI)(CX*1), Y7
	VFMADD231PD Y0, Y6, Y7
	VMOVUPD Y7, (DI)(CX*1)
next:
	ADDQ $32, CX
	JNZ weighted
	VZEROUPPER
	RET
plain:
	TIMES64(NOCLIP)
	STACK64
	VADDPD (DI)(CX*1), Y6, Y6
	VMOVUPD Y6, (DI)(CX*1)
	ADDQ $32, CX
	JNZ plain
	VZEROUPPER
	RET

// func stackF32(run *pointRun)
TEXT ·stackF32(SB), NOSPLIT, $0-8
	RUN
	MOVQ R8, X14
	VPBROADCASTD X14, Y14
	VCVTDQ2PS Y14, Y15
	VPCMPEQD Y0, Y0, Y0
	VPADDD Y0, Y14, Y14
	TESTQ R12, R12
	JZ plain
weighted:
	WEIGHT32
	VPTEST Y0, Y0
	JZ next
	TIMES32(NOCLIP)
	STACK32
	VMOVUPS (DI)(CX*1), Y7
	VFMADD231PS Y0, Y6, Y7
	VMOVUPS Y7, (DI)(CX*1)
next:
	ADDQ $32, CX
	JNZ weighted
	VZEROUPPER
	RET
plain:
	TIMES32(NOCLIP)
	STACK32
	VADDPS (DI)(CX*1), Y6, Y6
	VMOVUPS Y6, (DI)(CX*1)
	ADDQ $32, CX
	JNZ plain
	VZEROUPPER
	RET
