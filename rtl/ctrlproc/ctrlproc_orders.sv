// Orders to a core that have not left, oldest first: up to four are given in a cycle, and one may leave in the same.

module ctrlproc_orders #(
  parameter int unsigned Depth = 6,
  parameter bit          Two   = 1'b1,  // up to two by reports and two by decisions; else one of each
  localparam int unsigned CountW = $clog2(Depth + 1)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 clear_i,
  input  logic [3:0]           add_i,    // from bit 0 on
  input  ctrlproc_pkg::order_e first_i,
  input  ctrlproc_pkg::order_e second_i,
  input  ctrlproc_pkg::order_e third_i,
  input  ctrlproc_pkg::order_e fourth_i,
  output logic                 valid_o,
  output logic [3:0]           order_o,
  input  logic                 ready_i
);

  logic [Depth*4-1:0] orders_q, orders;
  logic [CountW-1:0]  count_q, count, after_first, after_second, after_third;
  logic [3:0]         add;
  logic               leaves;

  assign add          = Two ? add_i : add_i & 4'b0101;
  assign after_first  = count_q + CountW'(add[0]);
  assign after_second = after_first + CountW'(add[1]);
  assign after_third  = after_second + CountW'(add[2]);
  assign count        = after_third + CountW'(add[3]);

  always_comb begin
    orders = orders_q;
    for (int unsigned i = 0; i < Depth; i++) begin
      if (add[0] && count_q == CountW'(i)) orders[i*4 +: 4] = first_i;
      if (add[1] && after_first == CountW'(i)) orders[i*4 +: 4] = second_i;
      if (add[2] && after_second == CountW'(i)) orders[i*4 +: 4] = third_i;
      if (add[3] && after_third == CountW'(i)) orders[i*4 +: 4] = fourth_i;
    end
  end

  assign valid_o = count != '0 && !clear_i;
  assign order_o = orders[3:0];
  assign leaves  = valid_o && ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else if (clear_i) count_q <= '0;
    else count_q <= count - CountW'(leaves);
  end

  always_ff @(posedge clk_i) begin
    orders_q <= leaves ? orders >> 4 : orders;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && !clear_i) begin
      NoOverflow: assert (32'(count_q) + 32'(add[0]) + 32'(add[1]) + 32'(add[2]) + 32'(add[3]) <= Depth);
      OnlyTwo:    assert (Two || (add_i & 4'b1010) == '0);
    end
  end

endmodule
