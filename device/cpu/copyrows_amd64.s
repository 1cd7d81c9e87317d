#include "textflag.h"

// func copyRowsAhead(dst, src unsafe.Pointer, n, rows, dstStride, srcStride int)
TEXT ·copyRowsAhead(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ rows+24(FP), R8
	MOVQ dstStride+32(FP), R9
	MOVQ srcStride+40(FP), R10
	MOVQ R10, R11
	SHLQ $3, R11
	ADDQ SI, R11 // eight rows ahead

row:
	MOVQ n+16(FP), CX
	XORQ AX, AX

line:
	PREFETCHT0 (R11)(AX*1)
	VMOVUPD    (SI)(AX*1), Y0
	VMOVUPD    32(SI)(AX*1), Y1
	VMOVUPD    Y0, (DI)(AX*1)
	VMOVUPD    Y1, 32(DI)(AX*1)
	ADDQ       $64, AX
	CMPQ       AX, CX
	JLT        line
	ADDQ       R9, DI
	ADDQ       R10, SI
	ADDQ       R10, R11
	DECQ       R8
	JNZ        row
	VZEROUPPER
	RET
