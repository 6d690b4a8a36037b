// The edge buffer: a ring of slots. A slot is reserved when its line is requested, and valid when its data has come.
//
// In a cycle, edges come first, then some leave, then slots are reserved.

module graphpeg_buffer #(
  parameter int unsigned Slots = 512,
  parameter int unsigned Lanes = 32,
  parameter int unsigned Line  = 16,
  localparam int unsigned SlotW = $clog2(Slots + 1),
  localparam int unsigned LineW = $clog2(Line + 1),
  localparam int unsigned RankW = $clog2(Lanes + 1)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                clear_i,
  input  logic [SlotW-1:0]    limit_i,       // slots in use, by the number of fields
  // Data comes: words of a line of edges, or of weights.
  input  logic                edges_i,
  input  logic                weights_i,
  input  logic [SlotW-1:0]    data_slot_i,
  input  logic [LineW-1:0]    data_count_i,
  input  logic [Line*32-1:0]  data_i,
  // All data of a reservation has come.
  input  logic                complete_i,
  input  logic [SlotW-1:0]    slot_i,
  input  logic [LineW-1:0]    count_i,
  // Edges leave.
  output logic [SlotW-1:0]    run_o,         // valid slots in front
  input  logic [Lanes*RankW-1:0] read_at_i,  // by lane: which of the oldest, from 0 on
  output logic [Lanes*32-1:0] base_o,
  output logic [Lanes*32-1:0] neighbour_o,
  output logic [Lanes*32-1:0] weight_o,
  output logic [Lanes*32-1:0] number_o,
  input  logic [SlotW-1:0]    take_i,
  // Slots are reserved.
  output logic [SlotW-1:0]    free_o,
  output logic [SlotW-1:0]    next_o,        // the first of them
  input  logic [LineW-1:0]    reserve_i,     // so many; 0: none
  input  logic [31:0]         base_i,
  input  logic [31:0]         number_i,      // of the first edge
  // R_EFS needs the first, the end of a launch all three.
  output logic [SlotW-1:0]    reserved_o,
  output logic [SlotW-1:0]    left_o,        // reserved after this cycle
  output logic [SlotW-1:0]    left_valid_o,
  output logic [SlotW-1:0]    filled_o
);

  localparam int unsigned LineBits = Line * 32;
  localparam int unsigned Rows     = (Slots + 15) / 16;
  localparam int unsigned RowW     = (SlotW > 4) ? SlotW - 4 : 1;

  logic [SlotW-1:0] head_q, head_d, reserved_q, reserved, filled_q, filled;
  logic [Slots-1:0] valid_q, valid, leaves, comes;

  // As many ones as that, from bit 0 on: rows of 16 that are full, and a part of the next. A comparator for each slot would
  // be ten times as large.
  function automatic logic [Slots-1:0] ones(logic [SlotW-1:0] n);
    logic [Rows-1:0] full, next;
    logic [15:0]     part;
    for (int unsigned r = 0; r < Rows; r++) begin
      full[r] = RowW'(r) < RowW'(n >> 4);
      next[r] = RowW'(r) == RowW'(n >> 4);
    end
    for (int unsigned c = 0; c < 16; c++) part[c] = 4'(c) < 4'(n);
    for (int unsigned i = 0; i < Slots; i++) ones[i] = full[i/16] || (next[i/16] && part[i%16]);
  endfunction

  // The n slots from a first one on.
  function automatic logic [Slots-1:0] span(logic [SlotW-1:0] first, logic [SlotW-1:0] n, logic [SlotW-1:0] limit);
    logic [31:0] last;
    last = 32'(first) + 32'(n);  // behind it
    span = ones((last < 32'(limit)) ? SlotW'(last) : limit) & ~ones(first);
    if (last > 32'(limit)) span = span | ones(SlotW'(last - 32'(limit)));
  endfunction

  function automatic logic [SlotW-1:0] place(logic [SlotW-1:0] at, logic [31:0] n, logic [SlotW-1:0] limit);
    logic [31:0] sum;
    sum   = 32'(at) + n;
    place = SlotW'((sum >= 32'(limit)) ? sum - 32'(limit) : sum);
  endfunction

  assign comes  = complete_i ? span(slot_i, SlotW'(count_i), limit_i) : '0;
  assign leaves = span(head_q, take_i, limit_i);

  assign valid  = valid_q | comes;
  assign filled = filled_q + (complete_i ? SlotW'(count_i) : '0);

  // The run ends at the first slot that is not valid: from the head on, or, if there is none, from the ring's start on.

  logic [Slots-1:0] holes, front, ends;
  logic             above, below;
  logic [SlotW-1:0] first_hole;

  assign holes = ~valid & ones(limit_i);
  assign front = ~ones(head_q);
  assign above = (holes & front) != '0;
  assign below = (holes & ~front) != '0;
  assign ends  = above ? holes & front : holes;

  always_comb begin : find_hole
    logic [Slots-1:0] first;  // the lowest one alone
    first      = ends & (~ends + Slots'(1));
    first_hole = '0;
    for (int unsigned i = 0; i < Slots; i++) first_hole = first_hole | (SlotW'(i) & {SlotW{first[i]}});
  end

  assign run_o = above ? first_hole - head_q : (below ? limit_i - head_q + first_hole : limit_i);

  assign head_d       = place(head_q, 32'(take_i), limit_i);
  assign reserved     = reserved_q - take_i;
  assign free_o       = limit_i - reserved;
  assign next_o       = place(head_d, 32'(reserved), limit_i);
  assign reserved_o   = reserved_q;
  assign left_o       = reserved + SlotW'(reserve_i);
  assign left_valid_o = filled - take_i;
  assign filled_o     = filled;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q     <= '0;
      reserved_q <= '0;
      filled_q   <= '0;
      valid_q    <= '0;
    end else if (clear_i) begin
      head_q     <= '0;
      reserved_q <= '0;
      filled_q   <= '0;
      valid_q    <= '0;
    end else begin
      head_q     <= head_d;
      reserved_q <= left_o;
      filled_q   <= left_valid_o;
      valid_q    <= valid & ~leaves;
    end
  end

  // The fields. An edge's base vertex and number are known when its slot is reserved.

  logic [LineBits-1:0] bases, numbers;

  always_comb begin
    for (int unsigned i = 0; i < Line; i++) begin
      bases[i*32 +: 32]   = base_i;
      numbers[i*32 +: 32] = number_i + i;
    end
  end

  logic [LineBits-1:0] unused_base, unused_number, unused_neighbour, unused_weight;

  graphpeg_spad #(
    .Depth(Slots),
    .Line (Line),
    .Lanes(Lanes),
    .Through(1'b0)  // slots that are popped may be reserved at once
  ) u_base (
    .clk_i,
    .limit_i,
    .line_addr_i (next_o),
    .line_count_i(reserve_i),
    .line_data_i (bases),
    .write_addr_i({SlotW{1'b0}}),
    .write_i     ({Lanes{1'b0}}),
    .write_at_i  ({Lanes*RankW{1'b0}}),
    .write_data_i({Lanes*32{1'b0}}),
    .read_addr_i (head_q),
    .read_at_i,
    .read_data_o (base_o),
    .out_addr_i  ({SlotW{1'b0}}),
    .out_data_o  (unused_base)
  );

  graphpeg_spad #(
    .Depth(Slots),
    .Line (Line),
    .Lanes(Lanes),
    .Through(1'b0)  // slots that are popped may be reserved at once
  ) u_number (
    .clk_i,
    .limit_i,
    .line_addr_i (next_o),
    .line_count_i(reserve_i),
    .line_data_i (numbers),
    .write_addr_i({SlotW{1'b0}}),
    .write_i     ({Lanes{1'b0}}),
    .write_at_i  ({Lanes*RankW{1'b0}}),
    .write_data_i({Lanes*32{1'b0}}),
    .read_addr_i (head_q),
    .read_at_i,
    .read_data_o (number_o),
    .out_addr_i  ({SlotW{1'b0}}),
    .out_data_o  (unused_number)
  );

  graphpeg_spad #(
    .Depth(Slots),
    .Line (Line),
    .Lanes(Lanes)
  ) u_neighbour (
    .clk_i,
    .limit_i,
    .line_addr_i (data_slot_i),
    .line_count_i(edges_i ? data_count_i : {LineW{1'b0}}),
    .line_data_i (data_i),
    .write_addr_i({SlotW{1'b0}}),
    .write_i     ({Lanes{1'b0}}),
    .write_at_i  ({Lanes*RankW{1'b0}}),
    .write_data_i({Lanes*32{1'b0}}),
    .read_addr_i (head_q),
    .read_at_i,
    .read_data_o (neighbour_o),
    .out_addr_i  ({SlotW{1'b0}}),
    .out_data_o  (unused_neighbour)
  );

  graphpeg_spad #(
    .Depth(Slots),
    .Line (Line),
    .Lanes(Lanes)
  ) u_weight (
    .clk_i,
    .limit_i,
    .line_addr_i (data_slot_i),
    .line_count_i(weights_i ? data_count_i : {LineW{1'b0}}),
    .line_data_i (data_i),
    .write_addr_i({SlotW{1'b0}}),
    .write_i     ({Lanes{1'b0}}),
    .write_at_i  ({Lanes*RankW{1'b0}}),
    .write_data_i({Lanes*32{1'b0}}),
    .read_addr_i (head_q),
    .read_at_i,
    .read_data_o (weight_o),
    .out_addr_i  ({SlotW{1'b0}}),
    .out_data_o  (unused_weight)
  );

  always_ff @(posedge clk_i) begin
    if (rst_ni && !clear_i) begin
      TakesValid:     assert (take_i <= run_o);
      ReservesFree:   assert (SlotW'(reserve_i) <= free_o);
      ComesOnce:      assert ((comes & valid_q) == '0);
      FilledAsCounted: assert (filled_q <= reserved_q);
    end
  end

endmodule
