/* heddle.h: the machine's own instructions for C programs.
 *
 * gcc compiles for one thread and knows nothing of SIMT: the lanes of a warp
 * run that one thread's code in lock step, each with its own registers and its
 * own stack. Code is right on a warp when it is right for every lane alone and
 * all active lanes always go the same way. So:
 *
 *  - A branch on a value that differs between active lanes traps. A condition
 *    that may differ goes through HD_IF or HD_WHILE; a choice of values
 *    through hd_select and its kin (?: and min/max become branches, for there
 *    is no conditional move); the trip count of a for or while must be the
 *    same in all active lanes.
 *  - The condition given to HD_IF and HD_WHILE is itself evaluated by all
 *    active lanes, so it uses & and |, not && and ||.
 *  - No return, break, continue or goto leaves an HD_IF or HD_WHILE block: its
 *    lanes would miss the join.
 *  - No barrier within an HD_IF: each side would arrive on its own.
 *  - double, 64-bit division and 64-bit shifts call or become code with
 *    branches: use them only where one lane is active.
 *
 * See README.md for what this header does so that gcc keeps its hands off.
 */
#ifndef HEDDLE_H
#define HEDDLE_H

#include <stddef.h>
#include <stdint.h>

/* Both sides of a split must arrive at one and the same join instruction: the
 * first to arrive sleeps there, and goes on, with its registers as they were,
 * after the join at which the second arrives. Were the join copied into both
 * sides, the sleepers would wake in code whose register allocation and whose
 * known values are the other side's. gcc has no way to mark an asm as not to be
 * copied, so the passes that copy the block where paths meet are off in every
 * function after this line. Passes that copy a whole split-to-join region
 * (inlining, unrolling, unswitching) are harmless, and stay. runtime/link.ld checks the
 * outcome: a program with more joins than splits does not link. */
#pragma GCC optimize("no-thread-jumps", "no-split-paths", "no-tracer", "no-shrink-wrap", "reorder-blocks-algorithm=simple")

#define HD_INLINE static inline __attribute__((always_inline, unused))

/* ---- Control and status registers ------------------------------------- */

#define HD_CSR_READ_(how, number)                                  \
	({                                                         \
		unsigned hd_v_;                                    \
		__asm__ how("csrr %0, %1" : "=r"(hd_v_) : "i"(number)); \
		hd_v_;                                             \
	})

/* Never changes while a function runs, so gcc may keep or repeat the value. */
#define HD_CSR_FIXED_(name, number) \
	HD_INLINE unsigned name(void) { return HD_CSR_READ_(, number); }
/* Changes by itself. */
#define HD_CSR_LIVE_(name, number) \
	HD_INLINE unsigned name(void) { return HD_CSR_READ_(volatile, number); }

HD_CSR_FIXED_(hd_lane, 0xCC0)            /* lane of the warp */
HD_CSR_FIXED_(hd_warp, 0xCC1)            /* warp of the core */
HD_CSR_FIXED_(hd_core, 0xCC2)            /* core of the device */
HD_CSR_FIXED_(hd_hart, 0xF14)            /* (core * num_warps + warp) * num_threads + lane */
HD_CSR_FIXED_(hd_num_threads, 0xFC0)     /* lanes of a warp */
HD_CSR_FIXED_(hd_num_warps, 0xFC1)       /* warps of a core */
HD_CSR_FIXED_(hd_num_cores, 0xFC2)       /* cores of the device */
HD_CSR_FIXED_(hd_local_mem_base, 0xFC3)  /* address of the core's scratchpad */
HD_CSR_FIXED_(hd_weaver_capacity, 0x7C0) /* min(st_entries, warps * threads); 0 without a Weaver */
HD_CSR_FIXED_(hd_units, 0x7C2)           /* HD_HAS_* bits */
HD_CSR_LIVE_(hd_arg, 0x340)              /* mscratch: address of the launch arguments */
HD_CSR_LIVE_(hd_active_warps, 0xCC3)     /* mask of the core's running warps */
HD_CSR_LIVE_(hd_active_threads, 0xCC4)   /* mask of the warp's active lanes */
HD_CSR_LIVE_(hd_cycle, 0xB00)            /* cycles, low word */
HD_CSR_LIVE_(hd_cycleh, 0xB80)           /* high word */
HD_CSR_LIVE_(hd_instret, 0xB02)          /* warp instructions of the core, low word */
HD_CSR_LIVE_(hd_instreth, 0xB82)         /* high word */

enum { HD_HAS_WEAVER = 1, HD_HAS_PEG = 2, HD_HAS_EGHW = 4, HD_HAS_HWWL = 8 };

/* All threads of the device. */
HD_INLINE unsigned hd_num_harts(void) { return hd_num_cores() * hd_num_warps() * hd_num_threads(); }

/* The scratchpad of this core, shared by its warps. */
HD_INLINE void *hd_scratchpad(void) { return (void *)hd_local_mem_base(); }

/* ---- Warp control ------------------------------------------------------ */

/* Active lanes = mask; 0 ends the warp. Not for parting lanes: a lane that is
 * switched off and on again has missed what gcc computed meanwhile for both
 * stretches of code. Use HD_IF. */
HD_INLINE void hd_tmc(unsigned mask)
{
	__asm__ volatile(".insn r 0x0B, 0, 0, x0, %0, x0" : : "r"(mask) : "memory");
}

/* When this is the only warp of its core that runs, start warps 1..n-1 at
 * entry, lane 0 only, with no stack: entry is not C. Use hd_launch. */
HD_INLINE void hd_wspawn(unsigned n, void (*entry)(void))
{
	__asm__ volatile(".insn r 0x0B, 1, 0, x0, %0, %1" : : "r"(n), "r"(entry) : "memory");
}

/* A byte for each split and join, in sections that are not loaded: runtime/link.ld
 * compares their sizes. */
#define HD_COUNT_(section) ".pushsection " section ", \"\", @progbits; .byte 0; .popsection\n\t"

/* Part the active lanes by bit 0 of *predicate; returns what the one hd_join
 * of this split is given. Branch on *predicate right after it: the asm makes it
 * a value that gcc knows nothing about, so that the branch really is on it. */
HD_INLINE unsigned hd_split(unsigned *predicate)
{
	unsigned depth;
	__asm__ volatile(HD_COUNT_(".hd_splits") ".insn r 0x0B, 2, 0, %0, %1, x0" : "=r"(depth), "+r"(*predicate) : : "memory");
	return depth;
}

/* The same with the predicate negated: lanes with 0 are the `then` side. */
HD_INLINE unsigned hd_split_n(unsigned *predicate)
{
	unsigned depth;
	__asm__ volatile(HD_COUNT_(".hd_splits") ".insn r 0x0B, 2, 0, %0, %1, x1" : "=r"(depth), "+r"(*predicate) : : "memory");
	return depth;
}

HD_INLINE void hd_join(unsigned depth)
{
	__asm__ volatile(HD_COUNT_(".hd_joins") ".insn r 0x0B, 3, 0, x0, %0, x0" : : "r"(depth) : "memory");
}

/* Active lanes &= predicate, or = otherwise when no lane has it (_n: has it
 * not). Not for C loops: gcc rotates them, and a lane switched off at one copy
 * of the pred would be switched on at the other. Use HD_WHILE. */
HD_INLINE void hd_pred(unsigned predicate, unsigned otherwise)
{
	__asm__ volatile(".insn r 0x0B, 5, 0, x0, %0, %1" : : "r"(predicate), "r"(otherwise) : "memory");
}

HD_INLINE void hd_pred_n(unsigned predicate, unsigned otherwise)
{
	__asm__ volatile(".insn r 0x0B, 5, 0, x1, %0, %1" : : "r"(predicate), "r"(otherwise) : "memory");
}

/* HD_IF (condition) { ... } HD_ELSE { ... } HD_ENDIF, where HD_ELSE and its
 * block may be left out. */
#define HD_IF(condition)                           \
	{                                          \
		unsigned hd_then_ = !!(condition); \
		unsigned hd_depth_ = hd_split(&hd_then_); \
		if (hd_then_)
#define HD_ELSE else
#define HD_ENDIF                   \
		hd_join(hd_depth_); \
	}

/* HD_WHILE (condition) { ... } HD_ENDWHILE: the block is run by the lanes for
 * which the condition holds, until it holds for none. All lanes that entered
 * evaluate the condition each time, those that have finished too: it must be
 * harmless there, and stay false. */
#define HD_WHILE(condition)                        \
	for (;;) {                                 \
		unsigned hd_then_ = !!(condition); \
		if (!hd_vote_any(hd_then_))        \
			break;                     \
		unsigned hd_depth_ = hd_split(&hd_then_); \
		if (hd_then_)
#define HD_ENDWHILE HD_ENDIF

/* ---- Barriers and memory order ----------------------------------------- */

/* Wait until n warps of the core have arrived at barrier id; bit 31 of id: n
 * counts cores, and all active warps of each must arrive. n < 2 passes.
 * There are max(1, warps / 2) barriers of each kind. */
HD_INLINE void hd_bar(unsigned id, unsigned n)
{
	__asm__ volatile(".insn r 0x0B, 4, 0, x0, %0, %1" : : "r"(id), "r"(n) : "memory");
}

/* All warps of the core. A core's memory requests leave in order, so no fence
 * is needed for what they share. */
HD_INLINE void hd_barrier(void) { hd_bar(0, hd_num_warps()); }

/* All active warps of all cores; waits for their memory requests too. */
HD_INLINE void hd_device_barrier(void) { hd_bar(0x80000000u, hd_num_cores()); }

/* Wait until the warp's memory requests have taken effect. */
HD_INLINE void hd_fence(void) { __asm__ volatile("fence" : : : "memory"); }

/* ---- Votes and shuffles ------------------------------------------------- */

/* Over the active lanes; volatile because the answer depends on who they are. */
#define HD_VOTE_(name, funct3)                                                                    \
	HD_INLINE unsigned name(_Bool predicate)                                                  \
	{                                                                                         \
		unsigned p = predicate, v;                                                        \
		__asm__ volatile(".insn r 0x0B, " funct3 ", 1, %0, %1, x0" : "=r"(v) : "r"(p)); \
		return v;                                                                         \
	}
HD_VOTE_(hd_vote_all, "0")    /* every lane has it */
HD_VOTE_(hd_vote_any, "1")    /* some lane has it */
HD_VOTE_(hd_vote_uni, "2")    /* all lanes agree */
HD_VOTE_(hd_vote_ballot, "3") /* mask of the lanes that have it */

/* The operand of a shuffle: b is the distance, xor mask or lane; c the highest
 * lane within a segment; the bits of segment that are 1 name the segment (0:
 * the whole warp). A lane whose source is outside keeps its own value. */
HD_INLINE unsigned hd_shfl_control(unsigned b, unsigned c, unsigned segment)
{
	return b | c << 6 | segment << 12;
}

#define HD_SHUFFLE_(name, funct3)                                                                                      \
	HD_INLINE unsigned name##_raw(unsigned value, unsigned control)                                                \
	{                                                                                                              \
		unsigned v;                                                                                            \
		__asm__ volatile(".insn r 0x0B, " funct3 ", 1, %0, %1, %2" : "=r"(v) : "r"(value), "r"(control));    \
		return v;                                                                                              \
	}                                                                                                              \
	/* within the whole warp */                                                                                    \
	HD_INLINE unsigned name(unsigned value, unsigned b)                                                            \
	{                                                                                                              \
		return name##_raw(value, hd_shfl_control(b, hd_num_threads() - 1, 0));                                 \
	}
HD_SHUFFLE_(hd_shfl_up, "4")   /* value of lane - b */
HD_SHUFFLE_(hd_shfl_down, "5") /* value of lane + b */
HD_SHUFFLE_(hd_shfl_bfly, "6") /* value of lane ^ b */
HD_SHUFFLE_(hd_shfl_idx, "7")  /* value of lane b */

/* ---- Choosing without a branch ------------------------------------------ */

HD_INLINE unsigned hd_float_bits(float f)
{
	unsigned u;
	__builtin_memcpy(&u, &f, sizeof u);
	return u;
}

HD_INLINE float hd_bits_float(unsigned u)
{
	float f;
	__builtin_memcpy(&f, &u, sizeof f);
	return f;
}

/* condition ? yes : no. Both are evaluated. The asm hides from gcc that the
 * mask is all ones or all zeros, from which it would make a branch again. */
HD_INLINE unsigned hd_select(_Bool condition, unsigned yes, unsigned no)
{
	unsigned mask = -(unsigned)condition;
	__asm__("" : "+r"(mask));
	return no ^ ((yes ^ no) & mask);
}

HD_INLINE float hd_selectf(_Bool condition, float yes, float no)
{
	return hd_bits_float(hd_select(condition, hd_float_bits(yes), hd_float_bits(no)));
}

HD_INLINE int hd_min(int a, int b) { return (int)hd_select(a < b, (unsigned)a, (unsigned)b); }
HD_INLINE int hd_max(int a, int b) { return (int)hd_select(a > b, (unsigned)a, (unsigned)b); }
HD_INLINE unsigned hd_minu(unsigned a, unsigned b) { return hd_select(a < b, a, b); }
HD_INLINE unsigned hd_maxu(unsigned a, unsigned b) { return hd_select(a > b, a, b); }

#define HD_FMINMAX_(name, instruction)                                                      \
	HD_INLINE float name(float a, float b)                                              \
	{                                                                                   \
		float v;                                                                    \
		__asm__(instruction " %0, %1, %2" : "=f"(v) : "f"(a), "f"(b));              \
		return v;                                                                   \
	}
HD_FMINMAX_(hd_minf, "fmin.s")
HD_FMINMAX_(hd_maxf, "fmax.s")

/* ---- Atomics: each returns the old word --------------------------------- */

#define HD_ATOMIC_(name, instruction)                                                                                      \
	HD_INLINE unsigned name(volatile void *word, unsigned v)                                                           \
	{                                                                                                                  \
		unsigned old;                                                                                              \
		__asm__ volatile(instruction " %0, %2, (%1)" : "=r"(old) : "r"(word), "r"(v) : "memory");                \
		return old;                                                                                                \
	}
HD_ATOMIC_(hd_atomic_swap, "amoswap.w")
HD_ATOMIC_(hd_atomic_add, "amoadd.w")
HD_ATOMIC_(hd_atomic_xor, "amoxor.w")
HD_ATOMIC_(hd_atomic_and, "amoand.w")
HD_ATOMIC_(hd_atomic_or, "amoor.w")
HD_ATOMIC_(hd_atomic_min, "amomin.w")
HD_ATOMIC_(hd_atomic_max, "amomax.w")
HD_ATOMIC_(hd_atomic_minu, "amominu.w")
HD_ATOMIC_(hd_atomic_maxu, "amomaxu.w")

/* Float addition where the word is; heddle's own amofadd.w. */
HD_INLINE float hd_atomic_addf(volatile float *word, float v)
{
	unsigned old;
	__asm__ volatile(".insn r 0x2F, 2, 0x54, %0, %1, %2" : "=r"(old) : "r"(word), "r"(hd_float_bits(v)) : "memory");
	return hd_bits_float(old);
}

/* amocas.w: if the word is expected it becomes desired. */
HD_INLINE unsigned hd_atomic_cas(volatile void *word, unsigned expected, unsigned desired)
{
	__asm__ volatile(".insn r 0x2F, 2, 0x14, %0, %1, %2" : "+r"(expected) : "r"(word), "r"(desired) : "memory");
	return expected;
}

/* lr.w and sc.w; sc returns 0 when it stored. Lanes that contend never all
 * succeed at once: loop with HD_WHILE. */
HD_INLINE unsigned hd_load_reserved(volatile void *word)
{
	unsigned v;
	__asm__ volatile("lr.w %0, (%1)" : "=r"(v) : "r"(word) : "memory");
	return v;
}

HD_INLINE unsigned hd_store_conditional(volatile void *word, unsigned v)
{
	unsigned failed;
	__asm__ volatile("sc.w %0, %2, (%1)" : "=r"(failed) : "r"(word), "r"(v) : "memory");
	return failed;
}

/* ---- Graph units: a program asks hd_units() before it uses one ----------- */

#define HD_UNIT_GET_(name, operands)                                           \
	HD_INLINE int name(void)                                               \
	{                                                                      \
		int v;                                                         \
		__asm__ volatile(".insn r " operands : "=r"(v) : : "memory"); \
		return v;                                                      \
	}
#define HD_UNIT_GET_FROM_(name, operands)                                               \
	HD_INLINE int name(unsigned list)                                               \
	{                                                                               \
		int v;                                                                  \
		__asm__ volatile(".insn r " operands : "=r"(v) : "r"(list) : "memory"); \
		return v;                                                               \
	}
#define HD_UNIT_PUT_(name, operands)                                             \
	HD_INLINE void name(unsigned vertex)                                     \
	{                                                                        \
		__asm__ volatile(".insn " operands : : "r"(vertex) : "memory"); \
	}

/* Weaver (with mask_by_unit: false; a unit that switches lanes off is for
 * compilers that know of it). */
HD_INLINE void hd_weaver_reg(unsigned vertex, unsigned first_edge, unsigned degree)
{
	__asm__ volatile(".insn r4 0x2B, 0, 1, x0, %0, %1, %2" : : "r"(vertex), "r"(first_edge), "r"(degree) : "memory");
}
HD_UNIT_PUT_(hd_weaver_skip, "r4 0x2B, 0, 2, x0, %0, x0, x0") /* drop the rest of this vertex's edges */
HD_UNIT_GET_(hd_weaver_dec_id, "0x0B, 7, 0, %0, x0, x0")      /* vertex of the next edge, or -1 */
HD_UNIT_GET_(hd_weaver_dec_loc, "0x0B, 7, 8, %0, x0, x0")     /* number of that edge */

/* GraphPEG: pop takes the next edge of a list for every active lane and returns
 * one field of it, or -1; get returns another field of the same edge. */
HD_UNIT_GET_FROM_(hd_peg_pop_src, "0x5B, 0, 1, %0, x0, %1")
HD_UNIT_GET_FROM_(hd_peg_pop_dst, "0x5B, 1, 1, %0, x0, %1")
HD_UNIT_GET_FROM_(hd_peg_pop_wt, "0x5B, 2, 1, %0, x0, %1")
HD_UNIT_GET_FROM_(hd_peg_pop_idx, "0x5B, 3, 1, %0, x0, %1")
HD_UNIT_GET_(hd_peg_get_src, "0x5B, 0, 0, %0, x0, x0")
HD_UNIT_GET_(hd_peg_get_dst, "0x5B, 1, 0, %0, x0, x0")
HD_UNIT_GET_(hd_peg_get_wt, "0x5B, 2, 0, %0, x0, x0")
HD_UNIT_GET_(hd_peg_get_idx, "0x5B, 3, 0, %0, x0, x0")
HD_UNIT_GET_FROM_(hd_peg_popv, "0x5B, 0, 2, %0, x0, %1") /* next vertex of a list, or -1 */
HD_INLINE void hd_peg_push(unsigned vertex, unsigned list)
{
	__asm__ volatile(".insn r 0x5B, 0, 3, x0, %0, %1" : : "r"(vertex), "r"(list) : "memory");
}

/* EGHW, the edge-generating unit. */
HD_UNIT_PUT_(hd_eghw_push, "r 0x5B, 0, 4, x0, %0, x0")
HD_UNIT_GET_(hd_eghw_pop, "0x5B, 1, 4, %0, x0, x0") /* base vertex of the next edge, or -1 */
HD_UNIT_GET_(hd_eghw_get_other, "0x5B, 2, 4, %0, x0, x0")
HD_UNIT_GET_(hd_eghw_get_wt, "0x5B, 3, 4, %0, x0, x0")

/* HWWL, the hardware worklist. */
HD_UNIT_GET_(hd_hwwl_pop, "0x5B, 0, 5, %0, x0, x0") /* next vertex, or -1 */
HD_UNIT_PUT_(hd_hwwl_push, "r 0x5B, 1, 5, x0, %0, x0")

/* ---- Marks: what a run counts by, without a cycle of its own ---------------------------- */

/* Load what is at p, and count an edge for each active lane: for the load that
 * a lane executes once for each edge it handles. */
HD_INLINE unsigned hd_edge(const unsigned *p)
{
	unsigned v;
	__asm__ volatile("heddle.edge.%=: lw %0, %1" : "=r"(v) : "m"(*p));
	return v;
}

/* From here on, in the order of the addresses, instructions are of a phase: init,
 * registration, schedule, edge_access, gather_sum, apply or other. */
#define HD_PHASE(name) __asm__ volatile("heddle.phase." #name ".%=:" : : : "memory")

/* Ends the run as one that has gone wrong: what a kernel that checks does (docs/guide/programs.md). */
HD_INLINE void hd_wrong(void) { __asm__ volatile("ebreak" : : : "memory"); }

/* ---- The runtime: runtime/crt0.S and runtime/runtime.c ----------------------------------- */

/* Run kernel(arg) on every lane of every warp of this core, and return when all
 * have returned and what they wrote is visible. Called from main, not from a
 * kernel. */
void hd_launch(void (*kernel)(void *arg), void *arg);

/* Console output, for one lane at a time: a line per hart modulo 64. */
void hd_putchar(char c);
void hd_puts(const char *s); /* and a newline */

/* C's conversions d i u o x X c s p f F e E g G and %%, with flags, width, precision
 * and * as in C, and hh h l ll z t j of integers. Doubles are rounded correctly; %p is
 * hexadecimal. Any other conversion (%a, %n, %ls, %Lf) is printed and ends the run. */
void hd_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What gcc calls by itself. n must be the same in all active lanes. */
void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);

#endif
