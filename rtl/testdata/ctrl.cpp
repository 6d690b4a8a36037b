// Plays stimuli from standard input to one of the instances of module lockstep, a record a cycle, and writes what its
// outputs were before the clock's edge. ctrllockstep_test.go has the other end.
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "Vlockstep.h"
#include "verilated.h"

double sc_time_stamp() { return 0; }

int main(int argc, char **argv) {
  VerilatedContext context;
  context.commandArgs(argc, argv);
  Vlockstep top{&context};
  uint32_t in[3], out[8];
  uint32_t *const reports = reinterpret_cast<uint32_t *>(&top.rep_i);
  const uint32_t *const commands = reinterpret_cast<const uint32_t *>(&top.cmd_o);
  while (fread(in, sizeof in, 1, stdin) == 1) {
    const bool reset = in[0] & 1;
    top.clk_i = 0;
    top.rst_ni = !reset;
    top.sel_i = in[0] >> 24;
    top.launch_i = in[0] >> 1 & 1;
    top.rep_valid_i = in[1];
    top.cmd_ready_i = in[2];
    for (uint32_t i = 0; i < 32; i++) {
      if (in[1] >> i & 1 && fread(reports + 8 * i, 32, 1, stdin) != 1) return 2;
    }
    top.eval();
    if (!reset) {
      out[0] = top.done_o | top.polling_o << 1;
      out[1] = top.cmd_valid_o;
      out[2] = top.unread_o;
      out[3] = top.drained_o;
      out[4] = top.giving_o;
      out[5] = top.giving_vertices_o;
      out[6] = top.receiving_o;
      out[7] = top.receiving_vertices_o;
      fwrite(out, sizeof out, 1, stdout);
      for (uint32_t i = 0; i < 32; i++) {
        if (out[1] >> i & 1) fwrite(commands + 8 * i, 32, 1, stdout);
      }
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
