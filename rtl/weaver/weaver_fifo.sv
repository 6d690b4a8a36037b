// A queue. What enters in one cycle can leave from the next on, and a freed slot is visible in the next: neither end
// depends on the other in the same cycle, so the wires on both sides can be long.

module weaver_fifo #(
  parameter int unsigned Width = 32,
  parameter int unsigned Depth = 2,
  localparam int unsigned PtrW = (Depth > 1) ? $clog2(Depth) : 1,
  localparam int unsigned CountW = $clog2(Depth + 1)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             push_i,
  input  logic [Width-1:0] data_i,
  output logic             full_o,
  input  logic             pop_i,
  output logic [Width-1:0] data_o,
  output logic             valid_o
);

  logic [PtrW-1:0]   head_q, tail_q;
  logic [CountW-1:0] count_q, count_d;

  assign full_o  = count_q == CountW'(Depth);
  assign valid_o = count_q != '0;

  always_comb begin
    count_d = count_q;
    if (push_i && !pop_i) count_d = count_q + CountW'(1);
    if (!push_i && pop_i) count_d = count_q - CountW'(1);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q  <= '0;
      tail_q  <= '0;
      count_q <= '0;
    end else begin
      count_q <= count_d;
      if (push_i) tail_q <= (tail_q == PtrW'(Depth - 1)) ? '0 : tail_q + PtrW'(1);
      if (pop_i)  head_q <= (head_q == PtrW'(Depth - 1)) ? '0 : head_q + PtrW'(1);
    end
  end

  weaver_ram #(
    .Width(Width),
    .Depth(Depth),
    .Async(1'b1)
  ) u_ram (
    .clk_i,
    .we_i   (push_i),
    .waddr_i(tail_q),
    .wdata_i(data_i),
    .re_i   (1'b1),
    .raddr_i(head_q),
    .rdata_o(data_o)
  );

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      NoPushWhenFull: assert (!(push_i && full_o));
      NoPopWhenEmpty: assert (!(pop_i && !valid_o));
    end
  end

endmodule
