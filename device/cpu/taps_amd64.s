#include "textflag.h"
#include "taps_amd64.h"

// Sums of scaled runs, dst = Σ c·src or dst += Σ c·src, in pairs of taps and one
// last one, for several rows. Products are rounded before they are added, as in plain
// Go: so equal ones cancel, and every element is rounded in the same way, wherever it is.

// TAP takes the run and the factor of tap R10, and TAP2 those of the next.
#define TAP(CAST, SIZE) \
	MOVQ (SI)(R10*8), R11    \
	CAST (DX)(R10*SIZE), Y15 \
	ADDQ AX, R11             \
	INCQ R10

#define TAP2(CAST, SIZE) \
	MOVQ (SI)(R10*8), R12    \
	CAST (DX)(R10*SIZE), Y14 \
	ADDQ AX, R12             \
	INCQ R10

#define ALL(OP) \
	OP(0, Y0)   \
	OP(32, Y1)  \
	OP(64, Y2)  \
	OP(96, Y3)  \
	OP(128, Y4) \
	OP(160, Y5) \
	OP(192, Y6) \
	OP(224, Y7)

#define HALF(OP) \
	OP(0, Y0)   \
	OP(32, Y1)  \
	OP(64, Y2)  \
	OP(96, Y3)

#define ONE(OP) OP(0, Y0)

#define PUT(AT, Y) VMOVUPD Y, AT(DI)(AX*1)
#define NIL(AT, Y) VXORPD Y, Y, Y

#define MORE64(AT, Y) VADDPD AT(DI)(AX*1), Y, Y
#define MORE32(AT, Y) VADDPS AT(DI)(AX*1), Y, Y

#define LONE64(AT, Y) \
	VMULPD AT(R11), Y15, Y8 \
	VADDPD Y8, Y, Y

#define LONE32(AT, Y) \
	VMULPS AT(R11), Y15, Y8 \
	VADDPS Y8, Y, Y

#define PAIR64(AT, Y) \
	VMULPD AT(R11), Y15, Y8 \
	VMULPD AT(R12), Y14, Y9 \
	VADDPD Y9, Y8, Y8       \
	VADDPD Y8, Y, Y

#define PAIR32(AT, Y) \
	VMULPS AT(R11), Y15, Y8 \
	VMULPS AT(R12), Y14, Y9 \
	VADDPS Y9, Y8, Y8       \
	VADDPS Y8, Y, Y

// BLOCK computes N bytes of dst at a time in the registers of REGS, while N remain.
#define BLOCK(N, REGS, CAST, SIZE, PAIR, LONE, MORE, start, pair, lone, more, put, next) \
start:                   \
	CMPQ CX, $N          \
	JLT  next            \
	XORQ R10, R10        \
	REGS(NIL)            \
	TESTQ R13, R13       \
	JZ   lone            \
pair:                    \
	TAP(CAST, SIZE)      \
	TAP2(CAST, SIZE)     \
	REGS(PAIR)           \
	CMPQ R10, R13        \
	JLT  pair            \
	CMPQ R10, R8         \
	JGE  more            \
lone:                    \
	TAP(CAST, SIZE)      \
	REGS(LONE)           \
more:                    \
	TESTQ R9, R9         \
	JZ   put             \
	REGS(MORE)           \
put:                     \
	REGS(PUT)            \
	ADDQ $N, AX          \
	SUBQ $N, CX          \
	JMP  start           \
next:

// SINGLE does the elements that are left.
#define SINGLE(CAST, SIZE, MUL, ADD, MOV) \
start1:                  \
	TESTQ CX, CX         \
	JZ   end             \
	XORQ R10, R10        \
	VXORPD X0, X0, X0    \
	TESTQ R13, R13       \
	JZ   lone1           \
pair1:                   \
	TAP(CAST, SIZE)      \
	TAP2(CAST, SIZE)     \
	MUL (R11), X15, X8   \
	MUL (R12), X14, X9   \
	ADD X9, X8, X8       \
	ADD X8, X0, X0       \
	CMPQ R10, R13        \
	JLT  pair1           \
	CMPQ R10, R8         \
	JGE  more1           \
lone1:                   \
	TAP(CAST, SIZE)      \
	MUL (R11), X15, X8   \
	ADD X8, X0, X0       \
more1:                   \
	TESTQ R9, R9         \
	JZ   put1            \
	ADD (DI)(AX*1), X0, X0 \
put1:                    \
	MOV X0, (DI)(AX*1)   \
	ADDQ $SIZE, AX       \
	SUBQ $SIZE, CX       \
	JMP  start1          \
end:

// func tapsF64(dst *float64, src *unsafe.Pointer, c *float64, taps, n, add, rows, step, stride, shift int)
TEXT ·tapsF64(SB), NOSPLIT, $0-80
	TAPARGS
	ROW(row)
	BLOCK(256, ALL, VBROADCASTSD, 8, PAIR64, LONE64, MORE64, start8, pair8, lone8, more8, put8, next8)
	BLOCK(128, HALF, VBROADCASTSD, 8, PAIR64, LONE64, MORE64, start4, pair4, lone4, more4, put4, next4)
	BLOCK(32, ONE, VBROADCASTSD, 8, PAIR64, LONE64, MORE64, start2, pair2, lone2, more2, put2, next2)
	SINGLE(VBROADCASTSD, 8, VMULSD, VADDSD, VMOVSD)
	NEXT(row)

// func tapsF32(dst *float32, src *unsafe.Pointer, c *float32, taps, n, add, rows, step, stride, shift int)
TEXT ·tapsF32(SB), NOSPLIT, $0-80
	TAPARGS
	ROW(row)
	BLOCK(256, ALL, VBROADCASTSS, 4, PAIR32, LONE32, MORE32, start8, pair8, lone8, more8, put8, next8)
	BLOCK(128, HALF, VBROADCASTSS, 4, PAIR32, LONE32, MORE32, start4, pair4, lone4, more4, put4, next4)
	BLOCK(32, ONE, VBROADCASTSS, 4, PAIR32, LONE32, MORE32, start2, pair2, lone2, more2, put2, next2)
	SINGLE(VBROADCASTSS, 4, VMULSS, VADDSS, VMOVSS)
	NEXT(row)
