// Plays a GraphPEG for ../graphpeg.go: a record in from standard input, cycles of the unit, and for a cycle of a kernel
// a record out. It ends when its standard input does, so also when heddle is killed.
//
// In: flags (2 launch, 4 forsaken, 8 head, 16 room, 32 port, 64 a line comes, 128 a report may leave, action of the host
// from bit 8, 2048 operands of a new head follow, order from bit 12, function from bit 16, 1 << 20 the order is late);
// warp and tag from bit 16; mask; tag of the line; edges and range of the order; lists of the host's action, its word,
// and its lines or the idle cycles that come before. Then a and b of the lanes; the line; the set-up. Out: see cycle.
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <unistd.h>

#include "Vharness.h"
#include "verilated.h"

double sc_time_stamp() { return 0; }

namespace {

constexpr uint32_t kLanes = LANES, kLine = LINE, kHead = 11;
constexpr uint32_t kSetup = 1;  // HostSetup

int answers;  // the original standard output: messages of Verilator's go to the standard error

// receive reads n words; false at the end of the input.
bool receive(void *to, size_t n) {
  auto *p = static_cast<char *>(to);
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

// cycle plays one cycle, and fills out: flags; tags of answer and request; address; a report; the state; the answer; the
// line that is written. It returns the number of words.
size_t cycle(Vharness &top, uint32_t *out) {
  top.eval();
  out[0] = top.took_o | top.rsp_valid_o << 1 | top.req_valid_o << 2 | (top.req_valid_o & top.req_write_o) << 3 |
           top.rep_valid_o << 4 | top.rep_kind_o << 5 | top.err_o << 8 | top.pending_o << 16 | top.standby_o << 17 |
           top.drained_o << 18;
  out[1] = top.rsp_tag_o;
  out[2] = top.req_tag_o;
  out[3] = top.req_addr_o;
  out[4] = top.rep_edges_o;
  out[5] = top.rep_vertices_o;
  out[6] = top.rep_first_o;
  out[7] = top.rep_last_o;
  out[8] = top.rep_base_o;
  out[9] = top.efs_o;
  out[10] = top.in_size_o;
  out[11] = top.out_size_o;
  out[12] = top.reserved_o | top.filled_o << 16;
  out[13] = top.run_o | top.pops_o << 16;
  out[14] = top.fi_o | top.rd_o << 16;
  out[15] = top.fe_o;
  size_t n = 16;
  if (top.rsp_valid_o) {
    memcpy(out + n, &top.rsp_data_o, 4 * kLanes);
    n += kLanes;
  }
  if (out[0] & 8) {
    memcpy(out + n, &top.req_data_o, 4 * kLine);
    n += kLine;
  }
  edge(top);
  return n;
}

// quiet takes all inputs back but the data.
void quiet(Vharness &top) {
  top.launch_i = 0;
  top.forsaken_i = 0;
  top.host_i = 0;
  top.head_valid_i = 0;
  top.room_i = 0;
  top.req_ready_i = 0;
  top.mem_valid_i = 0;
  top.rep_ready_i = 0;
  top.cmd_i = 0;
}

bool play(Vharness &top, const uint32_t *in) {
  const uint32_t flags = in[0], host = flags >> 8 & 7;
  const bool kernel = host == 0 && !(flags & 2);
  uint32_t operands[2][kLanes], setup[11], out[16 + kLanes + kLine];
  quiet(top);
  if (kernel) {
    for (uint32_t i = 0; i < in[10]; i++) {
      top.eval();
      edge(top);
    }
  }
  if (flags & 2048) {
    if (!receive(operands[0], 2 * kLanes)) return false;
    memcpy(&top.head_a_i, operands[0], sizeof operands[0]);
    memcpy(&top.head_b_i, operands[1], sizeof operands[1]);
    top.head_fn_i = flags >> 16 & 15;
    top.head_warp_i = in[1] & 0xff;
    top.head_tag_i = in[1] >> 16;
    top.head_mask_i = in[2];
  }
  if (flags & 64 && !receive(&top.mem_data_i, kLine)) return false;
  if (host == kSetup) {
    if (!receive(setup, 11)) return false;
    memcpy(&top.setup_i, setup, sizeof setup);
  }
  top.launch_i = flags >> 1 & 1;
  top.forsaken_i = flags >> 2 & 1;
  top.host_i = host;
  top.host_list_i = in[8] & 0xff;
  top.host_other_i = in[8] >> 8;
  top.host_vertex_i = in[9];
  top.host_lines_i = in[10];
  top.head_valid_i = flags >> 3 & 1;
  top.room_i = flags >> 4 & 1;
  top.req_ready_i = flags >> 5 & 1;
  top.mem_valid_i = flags >> 6 & 1;
  top.rep_ready_i = flags >> 7 & 1;
  top.mem_tag_i = in[3];
  top.cmd_i = flags >> 12 & 7;
  top.cmd_late_i = flags >> 20 & 1;
  top.cmd_edges_i = in[4];
  top.cmd_first_i = in[5];
  top.cmd_last_i = in[6];
  top.cmd_base_i = in[7];
  const size_t n = cycle(top, out);
  return !kernel || send(out, n);
}

}  // namespace

int main(int argc, char **argv) {
  VerilatedContext context;
  context.commandArgs(argc, argv);
  answers = dup(1);
  if (answers < 0 || dup2(2, 1) < 0) return 2;
  Vharness top{&context};
  quiet(top);
  top.rst_ni = 0;
  top.eval();
  edge(top);
  top.rst_ni = 1;
  uint32_t in[kHead];
  while (receive(in, kHead)) {
    if (!play(top, in)) return 2;
  }
  top.final();
  return 0;
}
