// Plays stimuli from standard input to one of the instances of module lockstep, a record a cycle, and writes what its
// outputs were before the clock's edge. lockstep_test.go has the other end.
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
  uint32_t in[3], out[6];
  while (fread(in, sizeof in, 1, stdin) == 1) {
    const uint32_t flags = in[0];
    const bool valid = flags >> 1 & 1, reset = flags >> 3 & 1;
    top.clk_i = 0;
    top.rst_ni = !reset;
    top.launch_i = flags & 1;
    top.req_valid_i = valid;
    top.rsp_ready_i = flags >> 2 & 1;
    top.req_fn_i = flags >> 8 & 3;
    top.req_warp_i = flags >> 16 & 0xff;
    top.sel_i = flags >> 24;
    top.req_mask_i = in[1];
    top.req_tag_i = in[2];
    if (valid && (fread(&top.req_a_i, 128, 1, stdin) != 1 || fread(&top.req_b_i, 128, 1, stdin) != 1 ||
                  fread(&top.req_c_i, 128, 1, stdin) != 1))
      return 2;
    top.eval();
    if (!reset) {
      out[0] = top.req_ready_o | top.rsp_valid_o << 1 | top.rsp_set_mask_o << 2 | top.st_read_o << 3 |
               top.err_o << 4 | top.skip_hit_o << 6 | top.drop_o << 7 | top.state_o << 8 | top.dt_reads_o << 16;
      out[1] = top.ced_vid_o;
      out[2] = top.ced_loc_o;
      out[3] = top.ced_deg_o;
      out[4] = top.cursor_o;
      out[5] = top.filled_o;
      fwrite(out, sizeof out, 1, stdout);
      if (top.rsp_valid_o) {
        const uint32_t head[2] = {top.rsp_tag_o, top.rsp_mask_o};
        fwrite(head, sizeof head, 1, stdout);
        fwrite(&top.rsp_data_o, 128, 1, stdout);
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
