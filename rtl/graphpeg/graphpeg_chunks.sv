// Reads of edges that are under way. Those of a line of edges, and the lines of their weights, make their slots valid
// together; the first slot identifies them.

module graphpeg_chunks #(
  parameter int unsigned Slots = 512,
  parameter int unsigned Line  = 16,
  localparam int unsigned SlotW  = $clog2(Slots + 1),
  localparam int unsigned IndexW = $clog2(Slots),
  localparam int unsigned LineW  = $clog2(Line + 1)
) (
  input  logic             clk_i,
  input  logic [SlotW-1:0] limit_i,        // slots in use
  // Edges are requested.
  input  logic             add_i,
  input  logic [SlotW-1:0] add_slot_i,
  input  logic [LineW-1:0] add_count_i,    // edges
  input  logic [LineW-1:0] add_at_i,       // the first one's place in its line
  input  logic [LineW-1:0] add_weight_i,   // the same of its weight
  input  logic [1:0]       add_lines_i,    // of edges and weights
  // A line comes.
  input  logic             line_i,
  input  logic [SlotW-1:0] slot_i,
  input  logic [1:0]       part_i,         // 0: edges
  output logic [SlotW-1:0] data_slot_o,    // slots that its data belongs to
  output logic [LineW-1:0] data_count_o,
  output logic [LineW-1:0] data_at_o,      // the first of its words that do
  output logic             complete_o,
  output logic [LineW-1:0] count_o
);

  localparam int unsigned Width = 3 * LineW + 2;

  logic [LineW-1:0] count, at, weight_at, first, left;
  logic [1:0]       lines, seen, seen_before;  // lines that have come

  graphpeg_ram #(
    .Width(Width),
    .Depth(Slots)
  ) u_chunks (
    .clk_i,
    .we_i    (add_i),
    .waddr_i (IndexW'(add_slot_i)),
    .wdata_i ({add_count_i, add_at_i, add_weight_i, add_lines_i}),
    .raddr_i (IndexW'(slot_i)),
    .rdata_o ({count, at, weight_at, lines})
  );

  graphpeg_ram2 #(
    .Width(2),
    .Depth(Slots)
  ) u_seen (
    .clk_i,
    .we_i    (line_i),
    .waddr_i (IndexW'(slot_i)),
    .wdata_i (seen),
    .we1_i   (add_i),  // its slot may have become free in this cycle, by the line
    .waddr1_i(IndexW'(add_slot_i)),
    .wdata1_i(2'd0),
    .raddr_i (IndexW'(slot_i)),
    .rdata_o (seen_before)
  );

  logic unused_slot;  // as many slots as there may be are never one

  assign unused_slot = add_slot_i[SlotW-1];

  assign seen       = seen_before + 2'd1;
  assign complete_o = line_i && seen == lines;
  assign count_o    = count;

  // The first line of weights has those up to its end, the second the others.

  logic [31:0] beyond;

  assign first  = LineW'(Line) - weight_at;  // weights in the first line, if there are as many
  assign beyond = 32'(slot_i) + 32'(first);

  always_comb begin
    left = count - first;
    case (part_i)
      2'd0: begin
        data_at_o    = at;
        data_count_o = count;
        data_slot_o  = slot_i;
      end
      2'd1: begin
        data_at_o    = weight_at;
        data_count_o = (count < first) ? count : first;
        data_slot_o  = slot_i;
      end
      default: begin
        data_at_o    = '0;
        data_count_o = left;
        data_slot_o  = SlotW'((beyond >= 32'(limit_i)) ? beyond - 32'(limit_i) : beyond);
      end
    endcase
  end

endmodule
