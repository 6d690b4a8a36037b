// The largest and the smallest of some loads, by a tree of comparators; of equal ones the first.

module ctrlproc_extremes #(
  parameter int unsigned Num   = 4,
  parameter int unsigned Width = 32,
  localparam int unsigned IndexW = (Num > 1) ? $clog2(Num) : 1
) (
  input  logic [Num-1:0]       valid_i,  // the others do not take part
  input  logic [Num*Width-1:0] load_i,
  output logic                 valid_o,  // one takes part
  output logic [IndexW-1:0]    most_o,
  output logic [IndexW-1:0]    least_o,
  output logic [Width-1:0]     high_o,
  output logic [Width-1:0]     low_o
);

  localparam int unsigned Leaves = 1 << $clog2(Num);
  localparam int unsigned Nodes  = 2 * Leaves - 1;

  // Node n has the nodes 2n + 1 and 2n + 2 below it; the last ones are the loads.
  logic [Nodes-1:0]        valid;
  logic [Nodes*IndexW-1:0] most, least;
  logic [Nodes*Width-1:0]  high, low;

  always_comb begin : tree
    int unsigned n, a, b;
    valid = '0;
    most  = '0;
    least = '0;
    high  = '0;
    low   = '0;
    for (int unsigned i = 0; i < Num; i++) begin
      n = Leaves - 1 + i;
      valid[n]                   = valid_i[i];
      most[n*IndexW +: IndexW]   = IndexW'(i);
      least[n*IndexW +: IndexW]  = IndexW'(i);
      high[n*Width +: Width]     = load_i[i*Width +: Width];
      low[n*Width +: Width]      = load_i[i*Width +: Width];
    end
    for (int unsigned i = 1; i < Leaves; i++) begin
      n = Leaves - 1 - i;
      a = 2 * n + 1;
      b = 2 * n + 2;
      valid[n] = valid[a] || valid[b];
      if (!valid[a] || (valid[b] && high[b*Width +: Width] > high[a*Width +: Width])) begin
        most[n*IndexW +: IndexW] = most[b*IndexW +: IndexW];
        high[n*Width +: Width]   = high[b*Width +: Width];
      end else begin
        most[n*IndexW +: IndexW] = most[a*IndexW +: IndexW];
        high[n*Width +: Width]   = high[a*Width +: Width];
      end
      if (!valid[a] || (valid[b] && low[b*Width +: Width] < low[a*Width +: Width])) begin
        least[n*IndexW +: IndexW] = least[b*IndexW +: IndexW];
        low[n*Width +: Width]     = low[b*Width +: Width];
      end else begin
        least[n*IndexW +: IndexW] = least[a*IndexW +: IndexW];
        low[n*Width +: Width]     = low[a*Width +: Width];
      end
    end
  end

  assign valid_o = valid[0];
  assign most_o  = most[IndexW-1:0];
  assign least_o = least[IndexW-1:0];
  assign high_o  = high[Width-1:0];
  assign low_o   = low[Width-1:0];

endmodule
