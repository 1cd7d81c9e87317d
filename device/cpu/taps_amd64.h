// What the loops of sums of taps have in common, in registers of 32 and of 64 bytes.

// TAPARGS leaves in R14 how far the first row of runs is behind src, and in DI where
// dst would begin if it was as far.
#define TAPARGS \
	MOVQ dst+0(FP), DI    \
	MOVQ src+8(FP), SI    \
	MOVQ c+16(FP), DX     \
	MOVQ taps+24(FP), R8  \
	MOVQ add+40(FP), R9   \
	MOVQ shift+72(FP), R14 \
	SUBQ R14, DI          \
	MOVQ R8, R13          \
	ANDQ $~1, R13

// ROW begins a row of CX bytes, and NEXT ends it.
#define ROW(row) \
row:                  \
	MOVQ n+32(FP), CX \
	MOVQ R14, AX

#define NEXT(row) \
	MOVQ step+56(FP), BX   \
	ADDQ BX, R14           \
	SUBQ BX, DI            \
	ADDQ stride+64(FP), DI \
	DECQ rows+48(FP)       \
	JNZ  row               \
	VZEROUPPER             \
	RET
