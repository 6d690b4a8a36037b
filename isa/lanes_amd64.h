// SPREAD puts a general register into every lane.
#define SPREAD(R, X, Y) \
	VMOVD R, X           \
	VPBROADCASTD X, Y
