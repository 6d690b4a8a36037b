// One word of several; none if the index is of none.

module ctrlproc_select #(
  parameter int unsigned Num   = 4,
  parameter int unsigned Width = 32,
  localparam int unsigned IndexW = (Num > 1) ? $clog2(Num) : 1
) (
  input  logic [IndexW-1:0]    index_i,
  input  logic [Num*Width-1:0] data_i,
  output logic [Width-1:0]     data_o
);

  always_comb begin
    data_o = '0;
    for (int unsigned i = 0; i < Num; i++) begin
      if (index_i == IndexW'(i)) data_o = data_o | data_i[i*Width +: Width];
    end
  end

endmodule
