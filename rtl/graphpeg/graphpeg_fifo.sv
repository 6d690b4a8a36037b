// A queue of which up to two entries enter in a cycle, and one leaves. What enters can leave from the next cycle on.

module graphpeg_fifo #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 2,
  parameter bit          Two   = 1'b0,  // up to two enter in a cycle
  localparam int unsigned PtrW = (Depth > 1) ? $clog2(Depth) : 1,
  localparam int unsigned CountW = $clog2(Depth + 1)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              clear_i,
  input  logic              push0_i,  // enters before the other
  input  logic [Width-1:0]  data0_i,
  input  logic              push1_i,
  input  logic [Width-1:0]  data1_i,
  input  logic              pop_i,
  output logic [Width-1:0]  data_o,
  output logic [CountW-1:0] count_o
);

  logic [PtrW-1:0]   head_q, tail_q, tail1;
  logic [CountW-1:0] count_q;

  function automatic logic [PtrW-1:0] next(logic [PtrW-1:0] at);
    next = (at == PtrW'(Depth - 1)) ? '0 : at + PtrW'(1);
  endfunction

  assign tail1   = push0_i ? next(tail_q) : tail_q;
  assign count_o = count_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q  <= '0;
      tail_q  <= '0;
      count_q <= '0;
    end else if (clear_i) begin
      head_q  <= '0;
      tail_q  <= '0;
      count_q <= '0;
    end else begin
      count_q <= count_q + CountW'(push0_i) + CountW'(push1_i) - CountW'(pop_i);
      if (pop_i) head_q <= next(head_q);
      tail_q <= push1_i ? next(tail1) : tail1;
    end
  end

  if (Two) begin : gen_two
    graphpeg_ram2 #(
      .Width(Width),
      .Depth(Depth)
    ) u_ram (
      .clk_i,
      .we_i    (push0_i),
      .waddr_i (tail_q),
      .wdata_i (data0_i),
      .we1_i   (push1_i),
      .waddr1_i(tail1),
      .wdata1_i(data1_i),
      .raddr_i (head_q),
      .rdata_o (data_o)
    );
  end else begin : gen_one
    logic unused_data;
    assign unused_data = ^data1_i;
    graphpeg_ram #(
      .Width(Width),
      .Depth(Depth)
    ) u_ram (
      .clk_i,
      .we_i   (push0_i),
      .waddr_i(tail_q),
      .wdata_i(data0_i),
      .raddr_i(head_q),
      .rdata_o(data_o)
    );
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && !clear_i) begin
      NoPopWhenEmpty: assert (!(pop_i && count_q == '0));
      NoOverflow:     assert (32'(count_q) + 32'(push0_i) + 32'(push1_i) <= Depth + 32'(pop_i));
    end
  end

endmodule
