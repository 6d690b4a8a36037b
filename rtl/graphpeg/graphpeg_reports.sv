// Notifications of the control processor that have not left, oldest first. Up to three are made in a cycle; one may leave
// in the same.

module graphpeg_reports #(
  parameter int unsigned Depth = 16,
  localparam int unsigned Width  = graphpeg_pkg::ReportW,
  localparam int unsigned CountW = $clog2(Depth + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  clear_i,
  input  logic [2:0]            add_i,    // from bit 0 on
  input  graphpeg_pkg::report_t first_i,
  input  graphpeg_pkg::report_t second_i,
  input  graphpeg_pkg::report_t third_i,
  output logic                  valid_o,
  output graphpeg_pkg::report_t report_o,
  input  logic                  ready_i
);

  logic [Depth*Width-1:0] list_q, list;
  logic [CountW-1:0]      count_q, count;

  always_comb begin
    list  = list_q;
    count = count_q;
    if (add_i[0]) begin
      list[32'(count)*Width +: Width] = first_i;
      count = count + CountW'(1);
    end
    if (add_i[1]) begin
      list[32'(count)*Width +: Width] = second_i;
      count = count + CountW'(1);
    end
    if (add_i[2]) begin
      list[32'(count)*Width +: Width] = third_i;
      count = count + CountW'(1);
    end
  end

  assign valid_o  = count != '0;
  assign report_o = list[Width-1:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else if (clear_i) count_q <= '0;
    else count_q <= count - CountW'(valid_o && ready_i);
  end

  always_ff @(posedge clk_i) begin
    list_q <= (valid_o && ready_i) ? list >> Width : list;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) HasRoom: assert (32'(count_q) + 3 <= Depth);
  end

endmodule
