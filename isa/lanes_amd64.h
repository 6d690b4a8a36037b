// SPREAD puts a general register into every lane.
#define SPREAD(R, X, Y) \
	VMOVD R, X           \
	VPBROADCASTD X, Y

// KEEP writes Y0 to the lanes of the mask.
#define KEEP(o) \
	VMOVDQU o(DI), Y1                        \
	VPSLLVD ·laneShifts+o(SB), Y15, Y14     \
	VBLENDVPS Y14, Y0, Y1, Y0                \
	VMOVDQU Y0, o(DI)

// LOOP does OP(o), which leaves its result in Y0, for eight lanes at a time, up to the last that is in the mask.
#define LOOP(OP) \
	OP(0x00)      \
	KEEP(0x00)    \
	SHRL $8, CX   \
	JZ   done     \
	OP(0x20)      \
	KEEP(0x20)    \
	SHRL $8, CX   \
	JZ   done     \
	OP(0x40)      \
	KEEP(0x40)    \
	SHRL $8, CX   \
	JZ   done     \
	OP(0x60)      \
	KEEP(0x60)    \
done:            \
	VZEROUPPER    \
	RET

// ONES sets every bit of a register.
#define ONES(Y) VPCMPEQD Y, Y, Y

// SIGNS puts the sign bit into every lane of Y13. Unsigned comparisons are signed ones with the sign bits turned.
#define SIGNS \
	ONES(Y13)            \
	VPSLLD $31, Y13, Y13
