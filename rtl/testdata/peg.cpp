// Plays stimuli from standard input to one of the instances of module lockstep, a record a cycle, and writes what its
// outputs were before the clock's edge. peglockstep_test.go has the other end. Lines that come are named by the number of
// their read, from the first record on; its tag is the unit's.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "Vlockstep.h"
#include "verilated.h"

double sc_time_stamp() { return 0; }

int main(int argc, char **argv) {
  VerilatedContext context;
  context.commandArgs(argc, argv);
  Vlockstep top{&context};
  std::vector<uint32_t> tags;
  uint32_t in[11], out[17];
  while (fread(in, sizeof in, 1, stdin) == 1) {
    const uint32_t flags = in[0], host = flags >> 8 & 7;
    const bool reset = flags & 1, head = flags >> 3 & 1, line = flags >> 6 & 1;
    top.clk_i = 0;
    top.rst_ni = !reset;
    top.launch_i = flags >> 1 & 1;
    top.forsaken_i = flags >> 2 & 1;
    top.head_valid_i = head;
    top.room_i = flags >> 4 & 1;
    top.req_ready_i = flags >> 5 & 1;
    top.mem_valid_i = line;
    top.rep_ready_i = flags >> 7 & 1;
    top.host_i = host;
    top.cmd_i = flags >> 12 & 7;
    top.head_fn_i = flags >> 16 & 15;
    top.sel_i = flags >> 24;
    top.head_warp_i = in[1] & 0xff;
    top.head_tag_i = in[1] >> 16;
    top.head_mask_i = in[2];
    if (line) {
      if (in[3] >= tags.size()) {
        fprintf(stderr, "read %u was not requested\n", in[3]);
        return 3;
      }
      top.mem_tag_i = tags[in[3]];
    }
    top.cmd_epoch_i = in[4];
    top.cmd_edges_i = in[5];
    memcpy(&top.cmd_range_i, in + 6, 12);
    top.host_list_i = in[9] & 0xff;
    top.host_other_i = in[9] >> 8;
    top.host_vertex_i = in[10];
    if (head && (fread(&top.head_a_i, 128, 1, stdin) != 1 || fread(&top.head_b_i, 128, 1, stdin) != 1)) return 2;
    if (line && fread(&top.mem_data_i, 128, 1, stdin) != 1) return 2;
    if (host == 1 && fread(&top.setup_i[0], 44, 1, stdin) != 1) return 2;
    top.eval();
    if (!reset) {
      // Fields from the last to the first, as they are packed.
      const uint32_t *trace = reinterpret_cast<const uint32_t *>(&top.trace_o);
      const uint32_t *rep = reinterpret_cast<const uint32_t *>(&top.rep_o);
      auto bits = [](const uint32_t *from, int at, int n) {
        uint64_t v = from[at / 32];
        if (at % 32 + n > 32) v |= static_cast<uint64_t>(from[at / 32 + 1]) << 32;
        return static_cast<uint32_t>(v >> (at % 32) & ((uint64_t{1} << n) - 1));
      };
      out[0] = top.took_o | top.rsp_valid_o << 1 | top.req_valid_o << 2 | top.req_write_o << 3 | top.rep_valid_o << 4 |
               top.err_o << 8 | bits(trace, 2, 1) << 16 | bits(trace, 1, 1) << 17 | bits(trace, 0, 1) << 18;
      out[1] = top.rsp_tag_o;
      out[2] = top.req_addr_o;
      out[3] = bits(rep, 160, 3);
      out[4] = bits(rep, 128, 32);
      out[5] = bits(rep, 96, 32);
      out[6] = bits(rep, 64, 32);
      out[7] = bits(rep, 32, 32);
      out[8] = bits(rep, 0, 32);
      out[15] = bits(trace, 3, 32);
      out[14] = bits(trace, 35, 32);
      const uint32_t pops = bits(trace, 67, 16), fe = bits(trace, 83, 16), rd = bits(trace, 99, 16), fi = bits(trace, 115, 16),
                     run = bits(trace, 131, 16), filled = bits(trace, 147, 16), reserved = bits(trace, 163, 16);
      out[9] = bits(trace, 179, 32);
      out[10] = reserved | filled << 16;
      out[11] = run | pops << 16;
      out[12] = fi | rd << 16;
      out[13] = fe;
      out[16] = 0;
      fwrite(out, sizeof out, 1, stdout);
      if (top.rsp_valid_o) fwrite(&top.rsp_data_o, 128, 1, stdout);
      if (top.req_valid_o && top.req_write_o) fwrite(&top.req_data_o, 128, 1, stdout);
      if (top.req_valid_o && !top.req_write_o) tags.push_back(top.req_tag_o);
    }
    top.clk_i = 1;
    top.eval();
  }
  top.final();
#if VM_COVERAGE
  context.coveragep()->write("coverage.dat");
#endif
  return 0;
}
