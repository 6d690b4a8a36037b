// The Output Data of a lane: an edge and its vertex.

module weaver_lane #(
  parameter int unsigned RankW = 6
) (
  input  logic             clk_i,
  input  logic             gets_i,   // it gets the edge that is rank_i behind loc_i
  input  logic [31:0]      vid_i,
  input  logic [31:0]      loc_i,
  input  logic [RankW-1:0] rank_i,
  input  logic             filled_i, // it has an edge
  output logic [31:0]      vid_o,    // -1 without one
  output logic [31:0]      eid_o
);

  logic [31:0] vid_q, eid_q;

  always_ff @(posedge clk_i) begin
    if (gets_i) begin
      vid_q <= vid_i;
      eid_q <= loc_i + 32'(rank_i);
    end
  end

  assign vid_o = filled_i ? vid_q : '1;
  assign eid_o = filled_i ? eid_q : '1;

endmodule
