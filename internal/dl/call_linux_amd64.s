#include "textflag.h"

// CALLC calls the C function of the frame in DI by the System V convention:
// six arguments in registers, twelve on the stack, which is aligned to 16 bytes at
// the call. BX, which C preserves, keeps the frame.
#define CALLC \
	PUSHQ BP          \
	MOVQ  SP, BP      \
	PUSHQ BX          \
	SUBQ  $104, SP    \
	MOVQ  DI, BX      \
	MOVQ  56(BX), AX  \
	MOVQ  AX, 0(SP)   \
	MOVQ  64(BX), AX  \
	MOVQ  AX, 8(SP)   \
	MOVQ  72(BX), AX  \
	MOVQ  AX, 16(SP)  \
	MOVQ  80(BX), AX  \
	MOVQ  AX, 24(SP)  \
	MOVQ  88(BX), AX  \
	MOVQ  AX, 32(SP)  \
	MOVQ  96(BX), AX  \
	MOVQ  AX, 40(SP)  \
	MOVQ  104(BX), AX \
	MOVQ  AX, 48(SP)  \
	MOVQ  112(BX), AX \
	MOVQ  AX, 56(SP)  \
	MOVQ  120(BX), AX \
	MOVQ  AX, 64(SP)  \
	MOVQ  128(BX), AX \
	MOVQ  AX, 72(SP)  \
	MOVQ  136(BX), AX \
	MOVQ  AX, 80(SP)  \
	MOVQ  144(BX), AX \
	MOVQ  AX, 88(SP)  \
	MOVQ  8(BX), DI   \
	MOVQ  16(BX), SI  \
	MOVQ  24(BX), DX  \
	MOVQ  32(BX), CX  \
	MOVQ  40(BX), R8  \
	MOVQ  48(BX), R9  \
	MOVQ  0(BX), R10  \
	XORL  AX, AX      \
	CALL  R10

#define RETURN \
	ADDQ $104, SP \
	POPQ BX       \
	POPQ BP       \
	RET

// toInt leaves the result in AX, for a frame on a stack that may have moved.
TEXT toInt<>(SB), NOSPLIT|NOFRAME, $0
	CALLC
	RETURN

// toPointer stores all 64 bits in the frame, which is on the heap.
TEXT toPointer<>(SB), NOSPLIT|NOFRAME, $0
	CALLC
	MOVQ AX, 152(BX)
	RETURN

DATA ·intPC(SB)/8, $toInt<>(SB)
GLOBL ·intPC(SB), NOPTR, $8
DATA ·pointerPC(SB)/8, $toPointer<>(SB)
GLOBL ·pointerPC(SB), NOPTR, $8
