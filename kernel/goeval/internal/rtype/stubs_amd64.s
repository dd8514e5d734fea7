#include "textflag.h"

// Each stub is 16 bytes: R12 is free in Go's register ABI.
#define S(k) PCALIGN $16; MOVL $(k), R12; JMP ·stubJump(SB);
#define S8(k) S(k) S(k+1) S(k+2) S(k+3) S(k+4) S(k+5) S(k+6) S(k+7)
#define S64(k) S8(k) S8(k+8) S8(k+16) S8(k+24) S8(k+32) S8(k+40) S8(k+48) S8(k+56)
#define S512(k) S64(k) S64(k+64) S64(k+128) S64(k+192) S64(k+256) S64(k+320) S64(k+384) S64(k+448)
#define S4K(k) S512(k) S512(k+512) S512(k+1024) S512(k+1536) S512(k+2048) S512(k+2560) S512(k+3072) S512(k+3584)
#define S32K(k) S4K(k) S4K(k+4096) S4K(k+8192) S4K(k+12288) S4K(k+16384) S4K(k+20480) S4K(k+24576) S4K(k+28672)

TEXT ·stubs(SB), NOSPLIT|NOFRAME, $0-0
	S32K(0) S32K(32768)
	RET

// stubJump enters slots[R12] as a closure: DX is the context register.
TEXT ·stubJump(SB), NOSPLIT|NOFRAME, $0-0
	LEAQ ·slots(SB), DX
	MOVQ (DX)(R12*8), DX
	MOVQ (DX), R12
	JMP  R12

TEXT ·stubBase(SB), NOSPLIT, $0-8
	LEAQ ·stubs(SB), AX
	MOVQ AX, ret+0(FP)
	RET
