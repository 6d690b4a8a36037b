// A slot of the row that the ST takes entries from: at its bank's output or, once that is the prefetched row's, kept.

module weaver_slot #(
  parameter bit Ahead = 1'b1
) (
  input  logic               clk_i,
  input  weaver_pkg::entry_t ram_i,
  input  logic               keep_i,     // keep what is at the bank's output
  input  logic               kept_vld_i, // what is kept counts
  input  logic               pick_i,     // the slot is taken
  output logic               some_o,     // it has an edge
  output weaver_pkg::entry_t entry_o     // 0 unless it is taken
);

  weaver_pkg::entry_t entry;

  if (Ahead) begin : gen_ahead
    weaver_pkg::entry_t kept_q;
    always_ff @(posedge clk_i) begin
      if (keep_i) kept_q <= ram_i;
    end
    assign entry = kept_vld_i ? kept_q : ram_i;
  end else begin : gen_no_ahead
    logic unused;
    assign unused = ^{clk_i, keep_i, kept_vld_i};
    assign entry  = ram_i;
  end

  assign some_o  = entry.deg != '0;
  assign entry_o = pick_i ? entry : '0;

endmodule
