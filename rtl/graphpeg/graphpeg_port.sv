// The memory port: one request a cycle, from four sources in turn. A source makes requests when all its earlier ones have
// left. What is requested in a cycle may leave in the same.

module graphpeg_port #(
  parameter int unsigned Line          = 16,
  parameter bit          SpillByVertex = 1'b0,
  localparam int unsigned LineW = $clog2(Line + 1)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // By source: it may make requests.
  output logic [3:0]         free_o,
  // Offsets: one line, or two side by side.
  input  logic               offsets_i,
  input  logic [31:0]        offsets_addr_i,
  input  logic               offsets_two_i,
  input  logic [15:0]        offsets_entry_i,
  // Edges: a line, and one or two of weights, or none.
  input  logic               edges_i,
  input  logic [31:0]        edges_addr_i,
  input  logic [31:0]        weights_addr_i,
  input  logic [1:0]         weights_lines_i,
  input  logic [15:0]        edges_slot_i,
  // A line of a list goes to memory, or comes back.
  input  logic               spill_i,
  input  logic [31:0]        spill_addr_i,
  input  logic [Line*32-1:0] spill_data_i,
  input  logic               refill_i,
  input  logic [31:0]        refill_addr_i,
  input  logic [15:0]        refill_list_i,
  input  logic [2:0]         refill_ticket_i,
  // To memory.
  input  logic               req_ready_i,
  output logic               req_valid_o,
  output logic               req_write_o,
  output logic [31:0]        req_addr_o,
  output graphpeg_pkg::tag_t req_tag_o,
  output logic [Line*32-1:0] req_data_o,      // of a line, or of one vertex
  output logic               spilling_o       // writes have not left after this cycle
);

  localparam logic [31:0] LineBytes = 32'(Line) * 4;
  localparam logic [LineW-1:0] Spills = SpillByVertex ? LineW'(Line) : LineW'(1);

  // What has not left, by source, before this cycle and with what is new.
  logic [1:0]         offsets_q, offsets;    // lines
  logic [31:0]        offsets_addr_q, offsets_addr;
  logic               offsets_part_q, offsets_part;
  logic [15:0]        offsets_entry_q, offsets_entry;
  logic               edges_q, edges;
  logic [1:0]         weights_q, weights;    // lines
  logic [31:0]        edges_addr_q, edges_addr, weights_addr_q, weights_addr;
  logic [1:0]         part_q, part;
  logic [15:0]        edges_slot_q, edges_slot;
  logic [LineW-1:0]   spills_q, spills;
  logic [31:0]        spill_addr_q, spill_addr;
  logic [Line*32-1:0] spill_data_q, spill_data;
  logic               refill_q, refill;
  logic [31:0]        refill_addr_q, refill_addr;
  logic [15:0]        refill_list_q, refill_list;
  logic [2:0]         refill_ticket_q, refill_ticket;

  assign free_o = {!refill_q, spills_q == '0, !edges_q && weights_q == '0, offsets_q == '0};

  assign offsets       = offsets_i ? 2'd1 + 2'(offsets_two_i) : offsets_q;
  assign offsets_addr  = offsets_i ? offsets_addr_i : offsets_addr_q;
  assign offsets_part  = !offsets_i && offsets_part_q;
  assign offsets_entry = offsets_i ? offsets_entry_i : offsets_entry_q;
  assign edges         = edges_i || edges_q;
  assign weights       = edges_i ? weights_lines_i : weights_q;
  assign edges_addr    = edges_i ? edges_addr_i : edges_addr_q;
  assign weights_addr  = edges_i ? weights_addr_i : weights_addr_q;
  assign part          = edges_i ? 2'd0 : part_q;
  assign edges_slot    = edges_i ? edges_slot_i : edges_slot_q;
  assign spills        = spill_i ? Spills : spills_q;
  assign spill_addr    = spill_i ? spill_addr_i : spill_addr_q;
  assign spill_data    = spill_i ? spill_data_i : spill_data_q;
  assign refill        = refill_i || refill_q;
  assign refill_addr   = refill_i ? refill_addr_i : refill_addr_q;
  assign refill_list   = refill_i ? refill_list_i : refill_list_q;
  assign refill_ticket = refill_i ? refill_ticket_i : refill_ticket_q;

  // Whose turn it is: the first that has a request, from turn on.

  logic [3:0] waits;
  logic [1:0] turn_q, chosen;
  logic       sends;

  assign waits = {refill, spills != '0, edges || weights != '0, offsets != '0};
  assign sends = waits != '0 && req_ready_i;

  always_comb begin
    chosen = turn_q;
    for (int unsigned i = 4; i > 0; i--) begin
      if (waits[2'(32'(turn_q) + i - 1)]) chosen = 2'(32'(turn_q) + i - 1);
    end
  end

  assign req_valid_o = sends;
  assign req_write_o = chosen == graphpeg_pkg::SrcSpill;
  assign req_data_o  = spill_data;

  logic [1:0]  tag_part;
  logic [15:0] tag_index;
  logic [2:0]  tag_ticket;
  logic [31:0] addr;

  always_comb begin
    tag_part   = '0;
    tag_index  = '0;
    tag_ticket = '0;
    addr       = offsets_addr;
    case (chosen)
      graphpeg_pkg::SrcOffsets: begin
        tag_part  = {1'b0, offsets_part};
        tag_index = offsets_entry;
      end
      graphpeg_pkg::SrcEdges: begin
        addr      = edges ? edges_addr : weights_addr;
        tag_part  = edges ? 2'd0 : part;
        tag_index = edges_slot;
      end
      graphpeg_pkg::SrcSpill: addr = spill_addr;
      default: begin
        addr       = refill_addr;
        tag_index  = refill_list;
        tag_ticket = refill_ticket;
      end
    endcase
  end

  assign req_addr_o = (req_write_o && SpillByVertex) ? addr : addr & ~(LineBytes - 32'd1);
  assign req_tag_o  = {chosen, tag_part, tag_index, tag_ticket};

  logic [3:0] leaves;

  assign leaves     = sends ? 4'd1 << chosen : '0;
  assign spilling_o = spills != LineW'(leaves[2]);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      turn_q    <= '0;
      offsets_q <= '0;
      edges_q   <= 1'b0;
      weights_q <= '0;
      spills_q  <= '0;
      refill_q  <= 1'b0;
    end else begin
      if (sends) turn_q <= chosen + 2'd1;
      offsets_q <= offsets - 2'(leaves[0]);
      edges_q   <= edges && !leaves[1];
      weights_q <= (leaves[1] && !edges) ? weights - 2'd1 : weights;
      spills_q  <= spills - LineW'(leaves[2]);
      refill_q  <= refill && !leaves[3];
    end
  end

  always_ff @(posedge clk_i) begin
    offsets_addr_q  <= leaves[0] ? offsets_addr + LineBytes : offsets_addr;
    offsets_part_q  <= offsets_part || leaves[0];
    offsets_entry_q <= offsets_entry;
    edges_addr_q    <= edges_addr;
    weights_addr_q  <= (leaves[1] && !edges) ? weights_addr + LineBytes : weights_addr;
    part_q          <= leaves[1] ? part + 2'd1 : part;
    edges_slot_q    <= edges_slot;
    spill_addr_q    <= leaves[2] ? spill_addr + 32'd4 : spill_addr;
    spill_data_q    <= leaves[2] ? spill_data >> 32 : spill_data;
    refill_addr_q   <= refill_addr;
    refill_list_q   <= refill_list;
    refill_ticket_q <= refill_ticket;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      OnlyWhenFree: assert (({refill_i, spill_i, edges_i, offsets_i} & ~free_o) == '0);
    end
  end

endmodule
