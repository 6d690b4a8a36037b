// Plays a Weaver for ../weaver.go: a record in from standard input, cycles of the unit, a record out. It ends when its
// standard input does, so also when heddle is killed.
//
// In: flags (1 head, 2 room, 4 launch, 8 operands of a new head follow; function from bit 8), warp and tag from bit 16,
// mask, and idle cycles that come before; then a, b, c of the lanes. Out: see reply.
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <unistd.h>

#include "Vharness.h"
#include "verilated.h"

double sc_time_stamp() { return 0; }

namespace {

constexpr uint32_t kLanes = LANES;
constexpr uint32_t kFill = 2;  // S2

int answers;  // the original standard output: messages of Verilator's go to the standard error

// receive reads n words; false at the end of the input.
bool receive(uint32_t *to, size_t n) {
  auto *p = reinterpret_cast<char *>(to);
  for (size_t left = 4 * n; left > 0;) {
    const ssize_t got = read(0, p, left);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    p += got;
    left -= got;
  }
  return true;
}

bool send(const uint32_t *from, size_t n) {
  auto *p = reinterpret_cast<const char *>(from);
  for (size_t left = 4 * n; left > 0;) {
    const ssize_t sent = write(answers, p, left);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    p += sent;
    left -= sent;
  }
  return true;
}

void edge(Vharness &top) {
  top.clk_i = 1;
  top.eval();
  top.clk_i = 0;
}

// cycle plays one cycle, and fills out: flags; tag and reads of the DT; mask; the CED; cursor; filled lanes; the
// answer; the lanes after a filling. It returns the number of words.
size_t cycle(Vharness &top, uint32_t *out) {
  top.eval();
  const bool replies = top.rsp_valid_o, fills = top.state_o == kFill;
  uint32_t flags = top.took_o | top.err_o << 1 | replies << 3 | top.rsp_dt_o << 4 | top.rsp_set_mask_o << 5 |
                   top.st_read_o << 6 | top.skip_hit_o << 7 | top.drop_o << 8 | fills << 9;
  out[1] = top.rsp_tag_o;
  out[2] = top.rsp_mask_o;
  size_t n = 8;
  if (replies) {
    memcpy(out + n, &top.rsp_data_o, 4 * kLanes);
    n += kLanes;
  }
  edge(top);
  top.eval();
  out[0] = flags | top.skipping_o << 10 | top.state_o << 12;
  out[1] |= top.dt_reads_o << 16;
  out[3] = top.ced_vid_o;
  out[4] = top.ced_loc_o;
  out[5] = top.ced_deg_o;
  out[6] = top.cursor_o;
  out[7] = top.filled_o;
  if (fills) {
    memcpy(out + n, &top.od_vid_o, 4 * kLanes);
    memcpy(out + n + kLanes, &top.od_eid_o, 4 * kLanes);
    n += 2 * kLanes;
  }
  return n;
}

}  // namespace

int main(int argc, char **argv) {
  VerilatedContext context;
  context.commandArgs(argc, argv);
  answers = dup(1);
  if (answers < 0 || dup2(2, 1) < 0) return 2;
  Vharness top{&context};
  top.rst_ni = 0;
  top.eval();
  edge(top);
  top.rst_ni = 1;
  uint32_t in[4], operands[3][kLanes], out[8 + 3 * kLanes];
  while (receive(in, 4)) {
    const uint32_t flags = in[0];
    if (flags & 8) {
      if (!receive(operands[0], 3 * kLanes)) return 2;
      memcpy(&top.head_a_i, operands[0], sizeof operands[0]);
      memcpy(&top.head_b_i, operands[1], sizeof operands[1]);
      memcpy(&top.head_c_i, operands[2], sizeof operands[2]);
      top.head_fn_i = flags >> 8 & 3;
      top.head_warp_i = in[1] & 0xff;
      top.head_tag_i = in[1] >> 16;
      top.head_mask_i = in[2];
    }
    top.head_valid_i = 0;
    top.launch_i = 0;
    top.room_i = 1;
    for (uint32_t i = 0; i < in[3]; i++) {
      top.eval();
      edge(top);
    }
    top.head_valid_i = flags & 1;
    top.room_i = flags >> 1 & 1;
    top.launch_i = flags >> 2 & 1;
    if (!send(out, cycle(top, out))) return 2;
  }
  top.final();
  return 0;
}
