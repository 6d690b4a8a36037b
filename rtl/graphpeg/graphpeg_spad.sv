// A ring of words in the scratchpad: a field of the edge buffer, or a part of a vertex-list on chip. A line's words are
// written and read side by side; lanes write and read at their own places from an address on, as the core's lanes do in
// the scratchpad. The ring wraps at limit_i.
//
// The banks, and the network between them and the lanes, are the scratchpad's. This module says what the unit does with
// them in a cycle; where units are mapped it is a black box.

module graphpeg_spad #(
  parameter int unsigned Depth   = 512,
  parameter int unsigned Line    = 16,
  parameter int unsigned Lanes   = 32,
  parameter bit          Through = 1'b1,  // what is written in a cycle is read in the same: lines can be popped as they come
  localparam int unsigned PtrW  = $clog2(Depth + 1),
  localparam int unsigned AddrW = $clog2(Depth),
  localparam int unsigned LineW = $clog2(Line + 1),
  localparam int unsigned RankW = $clog2(Lanes + 1)
) (
  input  logic                   clk_i,
  input  logic [PtrW-1:0]        limit_i,
  // A line's first words are written.
  input  logic [PtrW-1:0]        line_addr_i,
  input  logic [LineW-1:0]       line_count_i,  // 0: none
  input  logic [Line*32-1:0]     line_data_i,
  // Lanes write.
  input  logic [PtrW-1:0]        write_addr_i,
  input  logic [Lanes-1:0]       write_i,
  input  logic [Lanes*RankW-1:0] write_at_i,
  input  logic [Lanes*32-1:0]    write_data_i,
  // Lanes read.
  input  logic [PtrW-1:0]        read_addr_i,
  input  logic [Lanes*RankW-1:0] read_at_i,
  output logic [Lanes*32-1:0]    read_data_o,
  // A line is read.
  input  logic [PtrW-1:0]        out_addr_i,
  output logic [Line*32-1:0]     out_data_o
);

  logic [31:0] mem [Depth];

  // The place that is n behind an address.
  function automatic logic [AddrW-1:0] place(logic [PtrW-1:0] addr, logic [31:0] n, logic [PtrW-1:0] limit);
    logic [31:0] at;
    at    = 32'(addr) + n;
    place = AddrW'((at >= 32'(limit)) ? at - 32'(limit) : at);
  endfunction

  // How far a place is behind an address.
  function automatic logic [31:0] behind(logic [AddrW-1:0] at, logic [PtrW-1:0] addr, logic [PtrW-1:0] limit);
    behind = 32'(at) - 32'(addr);
    if (32'(at) < 32'(addr)) behind = behind + 32'(limit);
  endfunction

  logic [Lanes*AddrW-1:0] written;  // where lanes write

  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      written[l*AddrW +: AddrW] = place(write_addr_i, 32'(write_at_i[l*RankW +: RankW]), limit_i);
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Line; i++) begin
      if (i < 32'(line_count_i)) mem[place(line_addr_i, i, limit_i)] <= line_data_i[i*32 +: 32];
    end
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (write_i[l]) mem[written[l*AddrW +: AddrW]] <= write_data_i[l*32 +: 32];
    end
  end

  always_comb begin : lanes_read
    logic [AddrW-1:0] at;
    logic [31:0]      from;
    for (int unsigned l = 0; l < Lanes; l++) begin
      at   = place(read_addr_i, 32'(read_at_i[l*RankW +: RankW]), limit_i);
      from = behind(at, line_addr_i, limit_i);
      read_data_o[l*32 +: 32] = mem[at];
      if (Through && from < 32'(line_count_i)) read_data_o[l*32 +: 32] = line_data_i[from*32 +: 32];
    end
  end

  always_comb begin : line_read
    logic [AddrW-1:0] at;
    for (int unsigned i = 0; i < Line; i++) begin
      at = place(out_addr_i, i, limit_i);
      out_data_o[i*32 +: 32] = mem[at];
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (Through && write_i[l] && written[l*AddrW +: AddrW] == at) begin
          out_data_o[i*32 +: 32] = write_data_i[l*32 +: 32];
        end
      end
    end
  end

endmodule
