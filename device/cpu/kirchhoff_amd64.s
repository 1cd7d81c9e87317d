#include "textflag.h"

// Each function works on n points, a multiple of 4 or 8, at any alignment. A
// point whose sample is not below last, or is no number, adds nothing.

// func stackF64(image, trace, src, rec *float64, last, n int)
TEXT ·stackF64(SB), NOSPLIT, $0-48
	MOVQ image+0(FP), DI
	MOVQ trace+8(FP), SI
	MOVQ src+16(FP), DX
	MOVQ rec+24(FP), BX
	MOVQ last+32(FP), AX
	MOVQ n+40(FP), CX
	MOVQ AX, X15
	VPBROADCASTD X15, X15    // last
	VPCMPEQD X14, X14, X14   // -1
	LEAQ 8(SI), R8
loop64:
	VMOVUPD (DX), Y0
	VADDPD (BX), Y0, Y0      // time in samples
	VCVTTPD2DQY Y0, X1       // sample
	VCVTDQ2PD X1, Y2
	VSUBPD Y2, Y0, Y3        // rest
	VPCMPGTD X1, X15, X4     // last > sample
	VPCMPGTD X14, X1, X5     // sample > -1
	VPAND X5, X4, X4
	VPMOVSXDQ X4, Y4
	VMOVDQU Y4, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	VGATHERDPD Y4, (SI)(X1*8), Y6
	VGATHERDPD Y5, (R8)(X1*8), Y7
	VSUBPD Y6, Y7, Y7
	VFMADD231PD Y3, Y7, Y6
	VADDPD (DI), Y6, Y6
	VMOVUPD Y6, (DI)
	ADDQ $32, DX
	ADDQ $32, BX
	ADDQ $32, DI
	SUBQ $4, CX
	JNZ loop64
	VZEROUPPER
	RET

// func stackF32(image, trace, src, rec *float32, last, n int)
TEXT ·stackF32(SB), NOSPLIT, $0-48
	MOVQ image+0(FP), DI
	MOVQ trace+8(FP), SI
	MOVQ src+16(FP), DX
	MOVQ rec+24(FP), BX
	MOVQ last+32(FP), AX
	MOVQ n+40(FP), CX
	MOVQ AX, X15
	VPBROADCASTD X15, Y15
	VPCMPEQD Y14, Y14, Y14
	LEAQ 4(SI), R8
loop32:
	VMOVUPS (DX), Y0
	VADDPS (BX), Y0, Y0
	VCVTTPS2DQ Y0, Y1
	VCVTDQ2PS Y1, Y2
	VSUBPS Y2, Y0, Y3
	VPCMPGTD Y1, Y15, Y4
	VPCMPGTD Y14, Y1, Y5
	VPAND Y5, Y4, Y4
	VMOVDQU Y4, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	VGATHERDPS Y4, (SI)(Y1*4), Y6
	VGATHERDPS Y5, (R8)(Y1*4), Y7
	VSUBPS Y6, Y7, Y7
	VFMADD231PS Y3, Y7, Y6
	VADDPS (DI), Y6, Y6
	VMOVUPS Y6, (DI)
	ADDQ $32, DX
	ADDQ $32, BX
	ADDQ $32, DI
	SUBQ $8, CX
	JNZ loop32
	VZEROUPPER
	RET
