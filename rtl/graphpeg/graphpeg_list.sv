// A vertex-list, a FIFO. Its oldest vertices are in the ring head and its newest in the ring tail, both on chip; those in
// between that do not fit are in memory, by line, in a region used as a ring:
//
//   push -> tail -> (spill) memory (refill) -> head -> take
//
// While memory and tail are empty, pushes go to head. Room in head is kept for lines on their way, which may come in any
// order and enter it in theirs.
//
// In a cycle, a line comes first, then vertices are taken or pushed, then a line is spilled, then one is refilled.

module graphpeg_list #(
  parameter int unsigned Lanes       = 32,
  parameter int unsigned Line        = 16,    // words
  parameter int unsigned Words       = 2944,  // on chip
  parameter int unsigned RegionLines = 65536,
  localparam int unsigned HeadCap = Words - Line - Lanes,
  localparam int unsigned TailCap = Line + Lanes,
  localparam int unsigned HeadW   = $clog2(HeadCap + 1),
  localparam int unsigned TailW   = $clog2(TailCap + 1),
  localparam int unsigned LaneW   = $clog2(Lanes + 1),
  localparam int unsigned LineW   = $clog2(Line + 1),
  localparam int unsigned LineIdW = (RegionLines > 1) ? $clog2(RegionLines) : 1,
  localparam int unsigned LinesW  = $clog2(RegionLines + 1)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                clear_i,
  input  logic                set_i,         // set_lines_i lines are in memory, from set_first_i on
  input  logic [LineIdW-1:0]  set_first_i,
  input  logic [LinesW-1:0]   set_lines_i,
  // A line from memory.
  input  logic                line_valid_i,
  input  logic [2:0]          line_ticket_i,
  input  logic [Line*32-1:0]  line_data_i,
  // Vertices leave.
  output logic [31:0]         ready_o,       // that can be taken
  output logic [31:0]         size_o,        // of the list
  input  logic [Lanes*LaneW-1:0] read_at_i,  // by lane: which of the oldest, from 0 on
  output logic [Lanes*32-1:0] read_data_o,
  input  logic [31:0]         take_i,        // so many leave
  // Vertices enter.
  output logic [31:0]         room_o,
  input  logic [LaneW-1:0]    push_i,        // so many enter
  input  logic [Lanes-1:0]    push_lanes_i,  // of these lanes
  input  logic [Lanes*LaneW-1:0] push_at_i,  // by lane: in which order, from 0 on
  input  logic [Lanes*32-1:0] push_data_i,
  // A line goes to memory.
  output logic                want_spill_o,
  output logic                overflow_o,    // the region has no room for it
  output logic [Line*32-1:0]  spill_data_o,
  output logic [LineIdW-1:0]  spill_line_o,  // where it goes
  input  logic                spill_i,
  // A line is requested.
  output logic                want_refill_o,
  output logic [LineIdW-1:0]  refill_line_o,
  output logic [2:0]          refill_ticket_o,
  input  logic                refill_i,
  output logic [31:0]         next_size_o    // after this cycle
);

  logic [HeadW-1:0]   head_q, head_len_q, head_len, head_end;
  logic [TailW-1:0]   tail_q, tail_len_q, tail_end;
  logic [LineIdW-1:0] first_q;                // the oldest line in memory that has not been requested
  logic [LinesW-1:0]  spilled_q, spilled;     // lines in memory that have not been requested
  logic [2:0]         oldest_q, oldest;       // refill
  logic [3:0]         coming_q, coming;       // refills on their way, or that wait for an older one
  logic [7:0]         come_q, come;           // of them, those that have come

  // Places in a ring.
  function automatic logic [HeadW-1:0] in_head(logic [HeadW-1:0] at, logic [31:0] n);
    logic [31:0] sum;
    sum     = 32'(at) + n;
    in_head = HeadW'((sum >= HeadCap) ? sum - HeadCap : sum);
  endfunction

  function automatic logic [TailW-1:0] in_tail(logic [TailW-1:0] at, logic [31:0] n);
    logic [31:0] sum;
    sum     = 32'(at) + n;
    in_tail = TailW'((sum >= TailCap) ? sum - TailCap : sum);
  endfunction

  function automatic logic [LineIdW-1:0] in_region(logic [LineIdW-1:0] at, logic [LinesW-1:0] n);
    logic [31:0] sum;
    sum       = 32'(at) + 32'(n);
    in_region = LineIdW'((sum >= RegionLines) ? sum - RegionLines : sum);
  endfunction

  // A line comes. It is written where it belongs; lines enter head when all older ones have.

  logic [HeadW-1:0] line_at;
  logic [2:0]       rank;     // of the line among those that are coming
  logic [3:0]       enters;   // lines

  assign rank    = line_ticket_i - oldest_q;
  assign line_at = in_head(head_q, 32'(head_len_q) + 32'(rank) * Line);
  assign come    = come_q | (line_valid_i ? 8'd1 << line_ticket_i : 8'd0);

  always_comb begin
    enters = '0;
    for (int unsigned i = 0; i < 8; i++) begin
      if (enters == 4'(i) && 4'(i) < coming_q && come[3'(32'(oldest_q) + i)]) enters = 4'(i) + 4'd1;
    end
  end

  assign head_len = HeadW'(32'(head_len_q) + 32'(enters) * Line);
  assign coming   = coming_q - enters;
  assign oldest   = oldest_q + enters[2:0];

  logic away, whole;  // vertices are in memory; all are in head

  assign away    = spilled_q != '0 || coming != '0;
  assign whole   = !away && tail_len_q == '0;
  assign ready_o = 32'(head_len) + (away ? '0 : 32'(tail_len_q));
  assign size_o  = 32'(head_len) + 32'(tail_len_q) + (32'(spilled_q) + 32'(coming)) * Line;
  assign room_o  = TailCap - 32'(tail_len_q) + (whole ? HeadCap - 32'(head_len) : '0);

  // Vertices leave head, and then tail.

  logic [31:0]      head_take, tail_take;
  logic [HeadW-1:0] head_d;
  logic [TailW-1:0] tail_after;

  assign head_take  = (take_i < 32'(head_len)) ? take_i : 32'(head_len);
  assign tail_take  = take_i - head_take;
  assign head_d     = in_head(head_q, head_take);
  assign tail_after = in_tail(tail_q, tail_take);

  // Vertices enter head while they may, and then tail.

  logic [31:0]         head_room, head_push, tail_push, head_left, tail_left;
  logic [Lanes-1:0]    to_head, to_tail;
  logic [Lanes*LaneW-1:0] tail_at;

  assign head_room = whole ? HeadCap - 32'(head_len) : '0;
  assign head_push = (32'(push_i) < head_room) ? 32'(push_i) : head_room;
  assign tail_push = 32'(push_i) - head_push;
  assign head_end  = in_head(head_q, 32'(head_len));
  assign tail_end  = in_tail(tail_q, 32'(tail_len_q));
  assign head_left = 32'(head_len) - head_take + head_push;
  assign tail_left = 32'(tail_len_q) - tail_take + tail_push;

  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      to_head[l] = push_i != '0 && push_lanes_i[l] && push_at_i[l*LaneW +: LaneW] < LaneW'(head_push);
      to_tail[l] = push_i != '0 && push_lanes_i[l] && !to_head[l];
      tail_at[l*LaneW +: LaneW] = push_at_i[l*LaneW +: LaneW] - LaneW'(head_push);
    end
  end

  // A line leaves tail when it may lack room for the next push.

  logic [31:0] tail_len_d;

  assign want_spill_o = tail_left > Line;
  assign overflow_o   = 32'(spilled_q) + 32'(coming) == RegionLines;
  assign spill_line_o = in_region(first_q, spilled_q);
  assign spilled      = spilled_q + LinesW'(spill_i);
  assign tail_len_d   = tail_left - (spill_i ? Line : '0);

  // A line is requested when head has room for it, behind those on their way.

  assign want_refill_o   = spilled != '0 && coming < 4'd8 && HeadCap - head_left >= Line * (32'(coming) + 1);
  assign refill_line_o   = first_q;
  assign refill_ticket_o = oldest + coming[2:0];
  assign next_size_o     = head_left + tail_len_d + (32'(spilled) + 32'(coming)) * Line;

  logic [7:0] come_d;

  always_comb begin
    come_d = come;
    for (int unsigned i = 0; i < 8; i++) begin
      if (4'(i) < enters) come_d[3'(32'(oldest_q) + i)] = 1'b0;
    end
    if (refill_i) come_d[refill_ticket_o] = 1'b0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q     <= '0;
      head_len_q <= '0;
      tail_q     <= '0;
      tail_len_q <= '0;
      first_q    <= '0;
      spilled_q  <= '0;
      oldest_q   <= '0;
      coming_q   <= '0;
      come_q     <= '0;
    end else if (clear_i) begin
      head_q     <= '0;
      head_len_q <= '0;
      tail_q     <= '0;
      tail_len_q <= '0;
      first_q    <= '0;
      spilled_q  <= '0;
      oldest_q   <= '0;
      coming_q   <= '0;
      come_q     <= '0;
    end else begin
      head_q     <= head_d;
      head_len_q <= HeadW'(head_left);
      tail_q     <= spill_i ? in_tail(tail_after, Line) : tail_after;
      tail_len_q <= TailW'(tail_len_d);
      first_q    <= set_i ? set_first_i : (refill_i ? in_region(first_q, LinesW'(1)) : first_q);
      spilled_q  <= set_i ? set_lines_i : spilled - LinesW'(refill_i);
      oldest_q   <= oldest;
      coming_q   <= coming + 4'(refill_i);
      come_q     <= come_d;
    end
  end

  // What is on chip. The oldest vertices are head's, and behind them tail's.

  logic [Lanes*32-1:0]    head_data, tail_data;
  logic [Line*32-1:0]     unused_line;
  logic [Lanes*LaneW-1:0] tail_read_at;
  logic [LaneW-1:0]       from_head;  // as many as lanes may read there

  assign from_head = (32'(head_len) < Lanes) ? LaneW'(head_len) : LaneW'(Lanes);

  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      tail_read_at[l*LaneW +: LaneW] = read_at_i[l*LaneW +: LaneW] - LaneW'(head_len);
      read_data_o[l*32 +: 32] = (read_at_i[l*LaneW +: LaneW] < from_head) ? head_data[l*32 +: 32]
                                                                          : tail_data[l*32 +: 32];
    end
  end

  graphpeg_spad #(
    .Depth(HeadCap),
    .Line (Line),
    .Lanes(Lanes)
  ) u_head (
    .clk_i,
    .limit_i     (HeadW'(HeadCap)),
    .line_addr_i (line_at),
    .line_count_i(line_valid_i ? LineW'(Line) : {LineW{1'b0}}),
    .line_data_i,
    .write_addr_i(head_end),
    .write_i     (to_head),
    .write_at_i  (push_at_i),
    .write_data_i(push_data_i),
    .read_addr_i (head_q),
    .read_at_i,
    .read_data_o (head_data),
    .out_addr_i  ({HeadW{1'b0}}),
    .out_data_o  (unused_line)
  );

  graphpeg_spad #(
    .Depth(TailCap),
    .Line (Line),
    .Lanes(Lanes)
  ) u_tail (
    .clk_i,
    .limit_i     (TailW'(TailCap)),
    .line_addr_i ({TailW{1'b0}}),
    .line_count_i({LineW{1'b0}}),
    .line_data_i ({Line*32{1'b0}}),
    .write_addr_i(tail_end),
    .write_i     (to_tail),
    .write_at_i  (tail_at),
    .write_data_i(push_data_i),
    .read_addr_i (tail_q),
    .read_at_i   (tail_read_at),
    .read_data_o (tail_data),
    .out_addr_i  (tail_after),
    .out_data_o  (spill_data_o)
  );

  always_ff @(posedge clk_i) begin
    if (rst_ni && !clear_i) begin
      TakesReady:     assert (take_i <= ready_o);
      PushesFit:      assert (32'(push_i) <= room_o);
      ExpectedLine:   assert (!line_valid_i || (4'(rank) < coming_q && !come_q[line_ticket_i]));
      SpillsALine:    assert (!spill_i || (tail_left >= Line && !overflow_o));
      RefillHasRoom:  assert (!refill_i || want_refill_o);
      OneSideAtATime: assert (take_i == '0 || push_i == '0);
    end
  end

endmodule
