// A memory with a write port and a read port. A read and a write of one address in the same cycle: the read gets the
// old data.
//
// Async 1: the data of the address is at the output in the same cycle (registers, LUT RAM). Async 0: it is there from
// the cycle after re_i on, and stays until the next read (SRAM, block RAM).

module weaver_ram #(
  parameter int unsigned Width = 32,
  parameter int unsigned Depth = 16,
  parameter bit          Async = 1'b0,
  localparam int unsigned AddrW = (Depth > 1) ? $clog2(Depth) : 1
) (
  input  logic             clk_i,
  input  logic             we_i,
  input  logic [AddrW-1:0] waddr_i,
  input  logic [Width-1:0] wdata_i,
  input  logic             re_i,
  input  logic [AddrW-1:0] raddr_i,
  output logic [Width-1:0] rdata_o
);

  logic [Width-1:0] mem [Depth];

  always_ff @(posedge clk_i) begin
    if (we_i) mem[waddr_i] <= wdata_i;
  end

  if (Async) begin : gen_async
    logic unused_re;
    assign unused_re = re_i;
    assign rdata_o = mem[raddr_i];
  end else begin : gen_sync
    logic [Width-1:0] rdata_q;
    always_ff @(posedge clk_i) begin
      if (re_i) rdata_q <= mem[raddr_i];
    end
    assign rdata_o = rdata_q;
  end

endmodule
