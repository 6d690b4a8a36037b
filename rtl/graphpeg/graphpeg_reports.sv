// Notifications of the control processor that have not left, oldest first. Up to three are made in a cycle; one may leave
// in the same.
//
// Their kinds are in registers. Only a value and a donation have words, three at most, and the first one alone made in a
// cycle may be of these: the words are in a memory of their own, in the same order.

module graphpeg_reports #(
  parameter int unsigned Depth = 16,
  localparam int unsigned CountW = $clog2(Depth + 1),
  localparam int unsigned PtrW   = $clog2(Depth)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  clear_i,
  input  logic [2:0]            add_i,    // from bit 0 on
  input  graphpeg_pkg::report_t first_i,
  input  graphpeg_pkg::event_e  second_i,
  input  graphpeg_pkg::event_e  third_i,
  output logic                  valid_o,
  output graphpeg_pkg::report_t report_o,
  input  logic                  ready_i
);

  function automatic logic has_words(logic [2:0] kind);
    has_words = kind == graphpeg_pkg::EvValue || kind == graphpeg_pkg::EvDonated;
  endfunction

  logic [Depth*3-1:0] kinds_q, kinds;
  logic [CountW-1:0]  count_q, count, after_first, after_second;
  logic               leaves;

  assign after_first  = count_q + CountW'(add_i[0]);
  assign after_second = after_first + CountW'(add_i[1]);
  assign count        = after_second + CountW'(add_i[2]);

  always_comb begin
    kinds = kinds_q;
    for (int unsigned i = 0; i < Depth; i++) begin
      if (add_i[0] && count_q == CountW'(i)) kinds[i*3 +: 3] = first_i.kind;
      if (add_i[1] && after_first == CountW'(i)) kinds[i*3 +: 3] = second_i;
      if (add_i[2] && after_second == CountW'(i)) kinds[i*3 +: 3] = third_i;
    end
  end

  assign valid_o = count != '0;
  assign leaves  = valid_o && ready_i;

  // The words. Those of a report that is made when no other waits are at the output at once.

  logic [95:0]     first_words, oldest_words, words;
  logic [PtrW-1:0] head_q, tail_q;
  logic            writes, reads;

  assign first_words = (first_i.kind == graphpeg_pkg::EvValue) ? {first_i.edges, first_i.vertices, 32'd0} : first_i.range;
  assign writes      = add_i[0] && has_words(first_i.kind);
  assign reads       = leaves && has_words(kinds[2:0]);
  assign words       = (count_q == '0) ? first_words : oldest_words;

  graphpeg_ram #(
    .Width(96),
    .Depth(Depth)
  ) u_words (
    .clk_i,
    .we_i   (writes),
    .waddr_i(tail_q),
    .wdata_i(first_words),
    .raddr_i(head_q),
    .rdata_o(oldest_words)
  );

  // Fields in the order of report_t.
  always_comb begin
    report_o = {kinds[2:0], 160'd0};
    if (kinds[2:0] == graphpeg_pkg::EvValue) report_o = {kinds[2:0], words[95:32], 96'd0};
    if (kinds[2:0] == graphpeg_pkg::EvDonated) report_o = {kinds[2:0], 64'd0, words};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      head_q  <= '0;
      tail_q  <= '0;
    end else if (clear_i) begin
      count_q <= '0;
      head_q  <= '0;
      tail_q  <= '0;
    end else begin
      count_q <= count - CountW'(leaves);
      head_q  <= head_q + PtrW'(reads);
      tail_q  <= tail_q + PtrW'(writes);
    end
  end

  always_ff @(posedge clk_i) begin
    kinds_q <= leaves ? kinds >> 3 : kinds;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) HasRoom: assert (32'(count_q) + 3 <= Depth);
  end

endmodule
