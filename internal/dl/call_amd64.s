//go:build linux

#include "textflag.h"

// trampoline calls the C function of the frame in DI by the System V
// convention: six arguments in registers, six on the stack, which is aligned
// to 16 bytes at the call. BX keeps the frame, being preserved by C.
TEXT trampoline<>(SB), NOSPLIT|NOFRAME, $0
	PUSHQ BP
	MOVQ  SP, BP
	PUSHQ BX
	SUBQ  $56, SP
	MOVQ  DI, BX
	MOVQ  56(BX), AX
	MOVQ  AX, 0(SP)
	MOVQ  64(BX), AX
	MOVQ  AX, 8(SP)
	MOVQ  72(BX), AX
	MOVQ  AX, 16(SP)
	MOVQ  80(BX), AX
	MOVQ  AX, 24(SP)
	MOVQ  88(BX), AX
	MOVQ  AX, 32(SP)
	MOVQ  96(BX), AX
	MOVQ  AX, 40(SP)
	MOVQ  8(BX), DI
	MOVQ  16(BX), SI
	MOVQ  24(BX), DX
	MOVQ  32(BX), CX
	MOVQ  40(BX), R8
	MOVQ  48(BX), R9
	MOVQ  0(BX), R10
	XORL  AX, AX
	CALL  R10
	MOVQ  AX, 104(BX)
	ADDQ  $56, SP
	POPQ  BX
	POPQ  BP
	RET

DATA ·trampolinePC(SB)/8, $trampoline<>(SB)
GLOBL ·trampolinePC(SB), NOPTR, $8
