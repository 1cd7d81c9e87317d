#include "textflag.h"
#include "taps_amd64.h"

// The loops of taps_amd64.s in registers of 64 bytes. The last bytes of a row are
// behind a mask.

// TAP takes the run and the factor of tap R10, and TAP2 those of the next.
#define TAP(CAST, SIZE) \
	MOVQ (SI)(R10*8), R11    \
	CAST (DX)(R10*SIZE), Z15 \
	ADDQ AX, R11             \
	INCQ R10

#define TAP2(CAST, SIZE) \
	MOVQ (SI)(R10*8), R12    \
	CAST (DX)(R10*SIZE), Z14 \
	ADDQ AX, R12             \
	INCQ R10

#define ALL(OP) \
	OP(0, Z0, Z16, Z17)   \
	OP(64, Z1, Z18, Z19)  \
	OP(128, Z2, Z20, Z21) \
	OP(192, Z3, Z22, Z23) \
	OP(256, Z4, Z24, Z25) \
	OP(320, Z5, Z26, Z27) \
	OP(384, Z6, Z28, Z29) \
	OP(448, Z7, Z30, Z31)

#define HALF(OP) \
	OP(0, Z0, Z16, Z17)   \
	OP(64, Z1, Z18, Z19)  \
	OP(128, Z2, Z20, Z21) \
	OP(192, Z3, Z22, Z23)

#define ONE(OP) OP(0, Z0, Z16, Z17)

#define PUT(AT, S, U, V) VMOVUPD S, AT(DI)(AX*1)
#define NIL(AT, S, U, V) VPXORQ S, S, S

#define MORE64(AT, S, U, V) VADDPD AT(DI)(AX*1), S, S
#define MORE32(AT, S, U, V) VADDPS AT(DI)(AX*1), S, S

#define LONE64(AT, S, U, V) \
	VMULPD AT(R11), Z15, U \
	VADDPD U, S, S

#define LONE32(AT, S, U, V) \
	VMULPS AT(R11), Z15, U \
	VADDPS U, S, S

#define PAIR64(AT, S, U, V) \
	VMULPD AT(R11), Z15, U \
	VMULPD AT(R12), Z14, V \
	VADDPD V, U, U         \
	VADDPD U, S, S

#define PAIR32(AT, S, U, V) \
	VMULPS AT(R11), Z15, U \
	VMULPS AT(R12), Z14, V \
	VADDPS V, U, U         \
	VADDPS U, S, S

// SUM computes the registers of REGS from all taps.
#define SUM(REGS, CAST, SIZE, PAIR, LONE, MORE, PUT, pair, lone, more, put) \
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
	REGS(PUT)

// BLOCK computes N bytes of dst at a time in the registers of REGS, while N remain.
#define BLOCK(N, REGS, CAST, SIZE, PAIR, LONE, MORE, start, pair, lone, more, put, next) \
start:                   \
	CMPQ CX, $N          \
	JLT  next            \
	SUM(REGS, CAST, SIZE, PAIR, LONE, MORE, PUT, pair, lone, more, put) \
	ADDQ $N, AX          \
	SUBQ $N, CX          \
	JMP  start           \
next:

// The same behind the mask K1.
#define MASKPUT(AT, S, U, V) VMOVUPD S, K1, AT(DI)(AX*1)
#define MASKPUT32(AT, S, U, V) VMOVUPS S, K1, AT(DI)(AX*1)

#define MASKMORE64(AT, S, U, V) \
	VMOVUPD.Z AT(DI)(AX*1), K1, U \
	VADDPD U, S, S

#define MASKMORE32(AT, S, U, V) \
	VMOVUPS.Z AT(DI)(AX*1), K1, U \
	VADDPS U, S, S

#define MASKLONE64(AT, S, U, V) \
	VMOVUPD.Z AT(R11), K1, U \
	VMULPD U, Z15, U         \
	VADDPD U, S, S

#define MASKLONE32(AT, S, U, V) \
	VMOVUPS.Z AT(R11), K1, U \
	VMULPS U, Z15, U         \
	VADDPS U, S, S

#define MASKPAIR64(AT, S, U, V) \
	VMOVUPD.Z AT(R11), K1, U \
	VMOVUPD.Z AT(R12), K1, V \
	VMULPD U, Z15, U         \
	VMULPD V, Z14, V         \
	VADDPD V, U, U           \
	VADDPD U, S, S

#define MASKPAIR32(AT, S, U, V) \
	VMOVUPS.Z AT(R11), K1, U \
	VMOVUPS.Z AT(R12), K1, V \
	VMULPS U, Z15, U         \
	VMULPS V, Z14, V         \
	VADDPS V, U, U           \
	VADDPS U, S, S

// MASK has a bit of K1 for each of the elements that are left, or goes on at end.
#define MASK(LOG, end) \
	TESTQ CX, CX  \
	JZ    end     \
	SHRQ  $LOG, CX \
	MOVQ  $-1, BX \
	BZHIQ CX, BX, BX \
	KMOVW BX, K1

// func wideTapsF64(dst *float64, src *unsafe.Pointer, c *float64, taps, n, add, rows, step, stride, shift int)
TEXT ·wideTapsF64(SB), NOSPLIT, $0-80
	TAPARGS
	ROW(row)
	BLOCK(512, ALL, VBROADCASTSD, 8, PAIR64, LONE64, MORE64, start8, pair8, lone8, more8, put8, next8)
	BLOCK(256, HALF, VBROADCASTSD, 8, PAIR64, LONE64, MORE64, start4, pair4, lone4, more4, put4, next4)
	BLOCK(64, ONE, VBROADCASTSD, 8, PAIR64, LONE64, MORE64, start2, pair2, lone2, more2, put2, next2)
	MASK(3, end)
	SUM(ONE, VBROADCASTSD, 8, MASKPAIR64, MASKLONE64, MASKMORE64, MASKPUT, pair1, lone1, more1, put1)
end:
	NEXT(row)

// func wideTapsF32(dst *float32, src *unsafe.Pointer, c *float32, taps, n, add, rows, step, stride, shift int)
TEXT ·wideTapsF32(SB), NOSPLIT, $0-80
	TAPARGS
	ROW(row)
	BLOCK(512, ALL, VBROADCASTSS, 4, PAIR32, LONE32, MORE32, start8, pair8, lone8, more8, put8, next8)
	BLOCK(256, HALF, VBROADCASTSS, 4, PAIR32, LONE32, MORE32, start4, pair4, lone4, more4, put4, next4)
	BLOCK(64, ONE, VBROADCASTSS, 4, PAIR32, LONE32, MORE32, start2, pair2, lone2, more2, put2, next2)
	MASK(2, end)
	SUM(ONE, VBROADCASTSS, 4, MASKPAIR32, MASKLONE32, MASKMORE32, MASKPUT32, pair1, lone1, more1, put1)
end:
	NEXT(row)
