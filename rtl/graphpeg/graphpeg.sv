// The GraphPEG of a core: it walks the input vertex-list, requests the edges of its vertices, and gives warps full batches
// of them. Parameters are the keys of core.graphpeg in a machine's configuration; edges leave the buffer in the order of
// their requests (pop_order: ring).
//
// Head: the oldest request of the core, while head_valid_i; took_o removes it. A request has an active lane. b_i names the
// list, by the last active lane's word. A warp issues nothing behind a pop until it has been answered.
// Rsp: an answer to a get or a pop leaves when room_i allows it.
// Req, mem: to memory, and lines that come from there, in any order. A read of a line must not pass a write of it.
// Cmd, rep: from and to the control processor (§3.3.2).
// Host: registers and lists, between launches; nothing else happens in that cycle. launch_i begins a kernel.
//
// What happens in a cycle: a line and a command come (they are seen in the same cycle); an answer leaves; the oldest pop is
// served; a request is taken; edges are gathered (graphpeg_alwt); a line of a list is spilled and one refilled; a request
// goes to memory; the control processor is told.

module graphpeg #(
  parameter int unsigned Lanes           = 32,
  parameter int unsigned Warps           = 32,
  parameter int unsigned Line            = 16,     // words of a line, a power of two
  parameter int unsigned AlwtEntries     = 24,
  parameter int unsigned Slots           = 512,    // of the edge buffer, with one field an edge
  parameter int unsigned VertexLists     = 4,
  parameter int unsigned ListWords       = 2944,   // of a list, on chip
  parameter int unsigned RegionLines     = 65536,  // of a list, in memory
  parameter int unsigned BufferLatency   = 6,
  parameter bit          ReleaseAtReturn = 1'b0,
  parameter bit          SpillByVertex   = 1'b0,
  parameter bit          DonationFirst   = 1'b0,
  parameter int unsigned TagW            = 8,
  localparam int unsigned WarpW = (Warps > 1) ? $clog2(Warps) : 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  launch_i,
  input  logic                  forsaken_i,     // no warp pops any more: what is left is dropped

  input  graphpeg_pkg::host_e   host_i,
  input  graphpeg_pkg::setup_t  host_setup_i,
  input  logic [3:0]            host_list_i,
  input  logic [3:0]            host_other_i,
  input  logic [31:0]           host_vertex_i,  // or the first line
  input  logic [31:0]           host_lines_i,   // in memory
  output logic [31:0]           host_line_o,    // address that a spilled line belongs to

  input  logic                  head_valid_i,
  input  logic [3:0]            head_fn_i,
  input  logic [WarpW-1:0]      head_warp_i,
  input  logic [Lanes-1:0]      head_mask_i,
  input  logic [TagW-1:0]       head_tag_i,
  input  logic [Lanes*32-1:0]   head_a_i,
  input  logic [Lanes*32-1:0]   head_b_i,
  output logic                  took_o,
  output graphpeg_pkg::err_e    err_o,          // with took_o: of the program; else of the set-up

  input  logic                  room_i,
  output logic                  rsp_valid_o,
  output logic [TagW-1:0]       rsp_tag_o,
  output logic [Lanes*32-1:0]   rsp_data_o,

  input  logic                  req_ready_i,
  output logic                  req_valid_o,
  output logic                  req_write_o,
  output logic [31:0]           req_addr_o,
  output graphpeg_pkg::tag_t    req_tag_o,
  output logic [Line*32-1:0]    req_data_o,
  input  logic                  mem_valid_i,
  input  graphpeg_pkg::tag_t    mem_tag_i,
  input  logic [Line*32-1:0]    mem_data_i,

  input  graphpeg_pkg::order_e  cmd_i,
  input  logic [31:0]           cmd_epoch_i,
  input  logic [31:0]           cmd_edges_i,
  input  graphpeg_pkg::range_t  cmd_range_i,
  input  logic                  rep_ready_i,
  output logic                  rep_valid_o,
  output graphpeg_pkg::report_t rep_o,

  output graphpeg_pkg::trace_t  trace_o
);

  localparam int unsigned SlotW   = $clog2(Slots + 1);
  localparam int unsigned LineW   = $clog2(Line + 1);
  localparam int unsigned LineA   = $clog2(Line);      // bits of a word's place in its line
  localparam int unsigned LaneW   = $clog2(Lanes + 1);
  localparam int unsigned EntryW  = (AlwtEntries > 1) ? $clog2(AlwtEntries) : 1;
  localparam int unsigned LineIdW = (RegionLines > 1) ? $clog2(RegionLines) : 1;
  localparam int unsigned LinesW  = $clog2(RegionLines + 1);
  localparam int unsigned DataW   = Lanes * 32;
  localparam int unsigned PopW    = TagW + WarpW + Lanes + 2;
  localparam int unsigned AnswerQ = BufferLatency + 2;
  localparam int unsigned AnswerW = $clog2(AnswerQ + 1);
  localparam int unsigned ListW   = $clog2(VertexLists);
  localparam logic [31:0] LineBytes   = 32'(Line) * 4;
  localparam logic [31:0] RegionBytes = 32'(RegionLines) * LineBytes;

  // The registers of the host. Lists have numbers, which the host may exchange, and regions.

  graphpeg_pkg::setup_t     setup_q;
  logic                     set_up_q;   // the registers have been written
  logic [VertexLists*4-1:0] number_q;   // by the number that programs use: the list
  logic [VertexLists*32-1:0] region_q;  // by list
  logic [SlotW-1:0]         limit_q, limit;
  logic [31:0]              epoch_q;
  logic                     active, gathers;
  logic [3:0]               in, out;

  assign active  = !launch_i && host_i == graphpeg_pkg::HostNone;
  assign gathers = active && set_up_q && !setup_q.vertex_mode;
  assign in      = number_q[32'(setup_q.in)*4 +: 4];
  assign out     = number_q[32'(setup_q.out)*4 +: 4];

  always_comb begin
    case (3'(setup_q.fields[0]) + 3'(setup_q.fields[1]) + 3'(setup_q.fields[2]) + 3'(setup_q.fields[3]))
      3'd2:    limit = SlotW'(Slots / 2);
      3'd3:    limit = SlotW'(Slots / 3);
      3'd4:    limit = SlotW'(Slots / 4);
      default: limit = SlotW'(Slots);
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      setup_q  <= '0;
      set_up_q <= 1'b0;
      limit_q  <= SlotW'(Slots);
      epoch_q  <= '0;
      for (int unsigned i = 0; i < VertexLists; i++) number_q[i*4 +: 4] <= 4'(i);
    end else begin
      if (launch_i) begin
        epoch_q <= epoch_q + 32'd1;
        limit_q <= limit;
      end
      if (host_i == graphpeg_pkg::HostSetup) begin
        setup_q  <= host_setup_i;
        set_up_q <= 1'b1;
      end
      if (host_i == graphpeg_pkg::HostSwap) begin
        number_q[32'(host_list_i)*4 +: 4]  <= number_q[32'(host_other_i)*4 +: 4];
        number_q[32'(host_other_i)*4 +: 4] <= number_q[32'(host_list_i)*4 +: 4];
      end
    end
  end

  // Regions stay with their lists unless they move.
  always_ff @(posedge clk_i) begin
    if (host_i == graphpeg_pkg::HostSetup && (!set_up_q || host_setup_i.regions != setup_q.regions)) begin
      for (int unsigned i = 0; i < VertexLists; i++) begin
        for (int unsigned k = 0; k < VertexLists; k++) begin
          if (number_q[i*4 +: 4] == 4'(k)) region_q[k*32 +: 32] <= host_setup_i.regions + 32'(i) * RegionBytes;
        end
      end
    end
  end

  // A line comes from memory, for the table, for the edge buffer, or for a list.

  logic              offsets_come, edges_come, refill_comes;
  logic [31:0]       base;             // of the entry whose offsets come
  logic              unused_bits;
  logic [LineA-1:0]  place;            // of the first one in its line
  logic              two_lines, complete, wrong;
  logic [LineW-1:0]  complete_count, data_count, data_at;
  logic [SlotW-1:0]  data_slot;
  logic [Line*32-1:0] data;            // the words from data_at on

  assign offsets_come = active && mem_valid_i && mem_tag_i.source == graphpeg_pkg::SrcOffsets;
  assign edges_come   = active && mem_valid_i && mem_tag_i.source == graphpeg_pkg::SrcEdges;
  assign refill_comes = active && mem_valid_i && mem_tag_i.source == graphpeg_pkg::SrcRefill;
  assign unused_bits  = ^{host_lines_i, base};  // of numbers, those above what there may be
  assign place        = LineA'(setup_q.offsets >> 2) + LineA'(base);
  assign two_lines    = place == LineA'(Line - 1);
  assign data         = mem_data_i >> {data_at, 5'd0};

  logic [31:0] start_word, end_word;

  assign start_word = mem_data_i[32'(place)*32 +: 32];
  assign end_word   = mem_tag_i.part[0] ? mem_data_i[31:0] : mem_data_i[32'(LineA'(place + 1'b1))*32 +: 32];

  // A command comes.

  logic                 cmd_valid, receive, pending_q, pending, standby_q, done_q, done, cut_valid, told_q;
  graphpeg_pkg::range_t cut, range_q, range;
  logic [31:0]          alwt_left, alwt_left_d;
  graphpeg_pkg::order_e cmd;

  assign cmd_valid = active && cmd_epoch_i == epoch_q;
  assign cmd       = cmd_valid ? cmd_i : graphpeg_pkg::OrdNone;
  assign receive   = cmd == graphpeg_pkg::OrdReceive;
  assign pending   = pending_q || receive;
  assign range     = receive ? cmd_range_i : range_q;
  assign done      = done_q || cmd == graphpeg_pkg::OrdDone;

  // An answer leaves.

  logic [AnswerW-1:0] answers, answers_f, matured_q;
  logic [1:0]         new_answers, matures;
  logic               served, gets;

  assign rsp_valid_o = active && room_i && matured_q != '0;
  assign answers_f   = answers - AnswerW'(rsp_valid_o);
  assign new_answers = 2'(served) + 2'(gets);

  if (BufferLatency <= 1) begin : gen_next
    assign matures = new_answers;
  end else begin : gen_later
    localparam int unsigned Stages = BufferLatency - 1;
    logic [Stages*2-1:0] stages_q, stages;
    if (Stages == 1) begin : gen_one
      assign stages = new_answers;
    end else begin : gen_many
      assign stages = {stages_q[Stages*2-3:0], new_answers};
    end
    assign matures = stages_q[Stages*2-1 -: 2];
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) stages_q <= '0;
      else if (launch_i) stages_q <= '0;
      else if (active) stages_q <= stages;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) matured_q <= '0;
    else if (launch_i) matured_q <= '0;
    else if (active) matured_q <= matured_q + AnswerW'(matures) - AnswerW'(rsp_valid_o);
  end

  // The oldest pop is served: with a batch, or with what is left. Vertices come from the list, edges from the buffer.

  logic [$clog2(Warps + 1)-1:0] pops;
  logic [TagW-1:0]              pop_tag;
  logic [WarpW-1:0]             pop_warp;
  logic [Lanes-1:0]             pop_mask;
  logic [1:0]                   pop_field;
  logic [SlotW-1:0]             run, reserved, free, left, left_valid, filled, buffer_take;
  logic [VertexLists*32-1:0]    ready, size, size_d, room;
  logic [31:0]                  have, in_ready, in_size, wanted, given;
  logic                         exhausted, alwt_idle, alwt_empty;

  assign in_ready  = ready[32'(in)*32 +: 32];
  assign in_size   = size[32'(in)*32 +: 32];
  assign have      = setup_q.vertex_mode ? in_ready : 32'(run);
  assign exhausted = setup_q.vertex_mode ? in_ready == in_size
                                         : in_size == '0 && alwt_idle && reserved == filled && !pending;
  assign served    = active && pops != '0 && 32'(answers_f) != AnswerQ &&
                     (have >= Lanes || (exhausted && (have != '0 || done)));

  always_comb begin
    wanted = '0;
    for (int unsigned l = 0; l < Lanes; l++) wanted = wanted + 32'(pop_mask[l]);
  end

  assign given       = !served ? '0 : ((have < wanted) ? have : wanted);
  assign buffer_take = (gathers && forsaken_i) ? run : (setup_q.vertex_mode ? '0 : SlotW'(given));

  logic [DataW-1:0]       front, base_f, neighbour_f, weight_f, number_f;  // by lane
  logic [Lanes*LaneW-1:0] pop_at;                                          // which of the oldest
  logic [4*DataW-1:0]     batch, latch, latch_row;
  logic [DataW-1:0]       answer;
  logic [Warps-1:0]       latched_q;

  // Each active lane gets the edge or vertex that its rank among the active lanes names.
  always_comb begin : rank_pops
    logic [LaneW-1:0] rank;
    rank = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      pop_at[l*LaneW +: LaneW] = rank;
      rank = rank + LaneW'(pop_mask[l]);
    end
  end

  always_comb begin
    batch = '1;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (pop_mask[l] && pop_at[l*LaneW +: LaneW] < LaneW'(given)) begin
        if (setup_q.vertex_mode) begin
          batch[l*32 +: 32] = front[l*32 +: 32];
        end else begin
          batch[l*32 +: 32]           = setup_q.pull ? neighbour_f[l*32 +: 32] : base_f[l*32 +: 32];
          batch[DataW + l*32 +: 32]   = setup_q.pull ? base_f[l*32 +: 32] : neighbour_f[l*32 +: 32];
          batch[2*DataW + l*32 +: 32] = weight_f[l*32 +: 32];
          batch[3*DataW + l*32 +: 32] = number_f[l*32 +: 32];
        end
      end
    end
  end

  // A field of all lanes.
  function automatic logic [DataW-1:0] of_field(logic [4*DataW-1:0] edges, logic [1:0] field);
    case (field)
      2'd0:    of_field = edges[DataW-1:0];
      2'd1:    of_field = edges[2*DataW-1:DataW];
      2'd2:    of_field = edges[3*DataW-1:2*DataW];
      default: of_field = edges[4*DataW-1:3*DataW];
    endcase
  endfunction

  assign answer = of_field(batch, pop_field);

  graphpeg_ram #(
    .Width(4*DataW),
    .Depth(Warps)
  ) u_latches (
    .clk_i,
    .we_i    (served),
    .waddr_i (pop_warp),
    .wdata_i (batch),
    .raddr_i (head_warp_i),
    .rdata_o (latch_row)
  );

  assign latch = latched_q[head_warp_i] ? latch_row : '1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) latched_q <= '0;
    else if (launch_i) latched_q <= '0;
    else if (served) latched_q[pop_warp] <= 1'b1;
  end

  // A request is taken, if it is legal.

  logic [31:0]        list, pushes, push_room;
  logic [DataW-1:0]   push_data;
  logic [Lanes-1:0]   push_lanes;
  logic [Lanes*LaneW-1:0] push_at;
  logic               is_get, is_pop, is_push, head, push;
  graphpeg_pkg::err_e mistake;
  logic [3:0]         to;

  assign head    = active && head_valid_i;
  assign is_get  = head_fn_i < graphpeg_pkg::FnPop;
  assign is_push = head_fn_i == graphpeg_pkg::FnPush;
  assign is_pop  = !is_get && !is_push;

  // Of a push, lanes write in their order. The host writes as lane 0 would.
  always_comb begin : rank_pushes
    list   = '0;
    pushes = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      push_at[l*LaneW +: LaneW] = LaneW'(pushes);
      if (head_mask_i[l]) begin
        list   = head_b_i[l*32 +: 32];
        pushes = pushes + 32'd1;
      end
    end
  end

  always_comb begin
    push_lanes = head_mask_i;
    push_data  = head_a_i;
    if (host_i == graphpeg_pkg::HostPush) begin
      push_lanes      = Lanes'(1);
      push_data[31:0] = host_vertex_i;
    end
  end

  always_comb begin
    mistake = graphpeg_pkg::ErrNone;
    if (is_push) begin
      if (list >= VertexLists || list == 32'(setup_q.in)) mistake = graphpeg_pkg::ErrPush;
    end else if ((head_fn_i == graphpeg_pkg::FnPopV) != setup_q.vertex_mode) begin
      mistake = graphpeg_pkg::ErrMode;
    end else if (head_fn_i != graphpeg_pkg::FnPopV && !setup_q.fields[head_fn_i[1:0]]) begin
      mistake = graphpeg_pkg::ErrField;
    end else if (is_pop && list != 32'(setup_q.in)) begin
      mistake = graphpeg_pkg::ErrPop;
    end
  end

  assign to        = number_q[32'(list[3:0])*4 +: 4];
  assign push_room = room[32'(to)*32 +: 32];
  assign gets      = head && mistake == graphpeg_pkg::ErrNone && is_get && 32'(answers_f) + 32'(served) != AnswerQ;
  assign push      = head && mistake == graphpeg_pkg::ErrNone && is_push && pushes <= push_room;
  assign took_o    = head && (mistake != graphpeg_pkg::ErrNone || gets || is_pop || push);

  graphpeg_fifo #(
    .Width(PopW),
    .Depth(Warps)
  ) u_pops (
    .clk_i,
    .rst_ni,
    .clear_i(launch_i),
    .push0_i(head && is_pop && mistake == graphpeg_pkg::ErrNone),
    .data0_i({head_tag_i, head_warp_i, head_mask_i, (head_fn_i == graphpeg_pkg::FnPopV) ? 2'd0 : head_fn_i[1:0]}),
    .push1_i(1'b0),
    .data1_i({PopW{1'b0}}),
    .pop_i  (served),
    .data_o ({pop_tag, pop_warp, pop_mask, pop_field}),
    .count_o(pops)
  );

  graphpeg_fifo #(
    .Width(TagW + DataW),
    .Depth(AnswerQ),
    .Two  (1'b1)
  ) u_answers (
    .clk_i,
    .rst_ni,
    .clear_i(launch_i),
    .push0_i(served),
    .data0_i({pop_tag, answer}),
    .push1_i(gets),
    .data1_i({head_tag_i, of_field(latch, head_fn_i[1:0])}),
    .pop_i  (rsp_valid_o),
    .data_o ({rsp_tag_o, rsp_data_o}),
    .count_o(answers)
  );

  // Edges are requested, a line at a time, if the buffer has room for all of them.

  logic                 fe_valid, fetches;
  graphpeg_pkg::range_t fe;
  logic [31:0]          edges_addr, weights_addr, fetchable;
  logic [LineW-1:0]     to_end, fetch;
  logic [1:0]           weight_lines;
  logic [3:0]           port_free;
  logic [SlotW-1:0]     slot;

  assign edges_addr   = setup_q.neighbours + (fe.first << 2);
  assign weights_addr = setup_q.weights + (fe.first << 2);
  assign to_end       = LineW'(Line) - LineW'(edges_addr[LineA+1:2]);
  assign fetchable    = (32'(to_end) < fe.last - fe.first) ? 32'(to_end) : fe.last - fe.first;
  assign fetches      = gathers && fe_valid && port_free[1] && fetchable != '0 && 32'(free) >= fetchable;
  assign fetch        = fetches ? LineW'(fetchable) : '0;

  always_comb begin
    weight_lines = 2'd0;
    if (setup_q.fields[2]) weight_lines = (32'(weights_addr[LineA+1:2]) + fetchable > Line) ? 2'd2 : 2'd1;
  end

  // A vertex of the input list gets an entry, and its offsets are requested.

  logic              fi_ready, takes_vertex, fi, insert_ready, inserts;
  logic [EntryW-1:0] fi_entry;
  logic [31:0]       vertex, offsets_addr;

  assign vertex       = front[31:0];
  assign offsets_addr = setup_q.offsets + (vertex << 2);
  assign takes_vertex = gathers && in_ready != '0 && fi_ready && port_free[0];
  assign fi           = takes_vertex && vertex < setup_q.vertices;
  assign inserts      = gathers && pending && insert_ready;

  graphpeg_alwt #(
    .Entries        (AlwtEntries),
    .ReleaseAtReturn(ReleaseAtReturn),
    .DonationFirst  (DonationFirst)
  ) u_alwt (
    .clk_i,
    .rst_ni,
    .clear_i        (launch_i),
    .offsets_i      (offsets_come),
    .offsets_entry_i(EntryW'(mem_tag_i.index)),
    .start_valid_i  (!mem_tag_i.part[0]),
    .start_i        (start_word),
    .end_valid_i    (mem_tag_i.part[0] || !two_lines),
    .end_i          (end_word),
    .offsets_base_o (base),
    .wrong_o        (wrong),
    .edges_i        (setup_q.edges),
    .returned_i     (complete),
    .cut_i          (cmd == graphpeg_pkg::OrdDonate),
    .cut_most_i     (cmd_edges_i),
    .cut_valid_o    (cut_valid),
    .cut_o          (cut),
    .idle_o         (alwt_idle),
    .fe_valid_o     (fe_valid),
    .fe_o           (fe),
    .fetch_i        (32'(fetch)),
    .promote_i      (gathers),
    .fi_ready_o     (fi_ready),
    .fi_entry_o     (fi_entry),
    .fi_i           (fi),
    .fi_base_i      (vertex),
    .fi_two_i       (offsets_addr[LineA+1:2] == LineA'(Line - 1)),
    .insert_ready_o (insert_ready),
    .insert_i       (inserts),
    .insert_range_i (range),
    .left_o         (alwt_left),
    .empty_o        (alwt_empty),
    .edges_o        (alwt_left_d),
    .count_fi_o     (trace_o.fi),
    .count_rd_o     (trace_o.rd),
    .count_fe_o     (trace_o.fe)
  );

  graphpeg_chunks #(
    .Slots(Slots),
    .Line (Line)
  ) u_chunks (
    .clk_i,
    .limit_i     (limit_q),
    .add_i       (fetches),
    .add_slot_i  (slot),
    .add_count_i (fetch),
    .add_at_i    (LineW'(edges_addr[LineA+1:2])),
    .add_weight_i(LineW'(weights_addr[LineA+1:2])),
    .add_lines_i (2'd1 + weight_lines),
    .line_i      (edges_come),
    .slot_i      (SlotW'(mem_tag_i.index)),
    .part_i      (mem_tag_i.part),
    .data_slot_o (data_slot),
    .data_count_o(data_count),
    .data_at_o   (data_at),
    .complete_o  (complete),
    .count_o     (complete_count)
  );

  graphpeg_buffer #(
    .Slots(Slots),
    .Lanes(Lanes),
    .Line (Line)
  ) u_buffer (
    .clk_i,
    .rst_ni,
    .clear_i     (launch_i),
    .limit_i     (limit_q),
    .edges_i     (edges_come && mem_tag_i.part == 2'd0),
    .weights_i   (edges_come && mem_tag_i.part != 2'd0),
    .data_slot_i (data_slot),
    .data_count_i(data_count),
    .data_i      (data),
    .complete_i  (complete),
    .slot_i      (SlotW'(mem_tag_i.index)),
    .count_i     (complete_count),
    .run_o       (run),
    .read_at_i   (pop_at),
    .base_o      (base_f),
    .neighbour_o (neighbour_f),
    .weight_o    (weight_f),
    .number_o    (number_f),
    .take_i      (buffer_take),
    .free_o      (free),
    .next_o      (slot),
    .reserve_i   (fetch),
    .base_i      (fe.base),
    .number_i    (fe.first),
    .reserved_o  (reserved),
    .left_o      (left),
    .left_valid_o(left_valid),
    .filled_o    (filled)
  );

  // Vertex-lists.

  logic [VertexLists-1:0]         want_spill, overflow, spill, want_refill, refill;
  logic [VertexLists*DataW-1:0]   fronts;
  logic [VertexLists*Line*32-1:0] spill_data;
  logic [VertexLists*LineIdW-1:0] spill_line, refill_line;
  logic [VertexLists*3-1:0]       refill_ticket;
  logic [3:0]                     refilled, host_list, comes_for;
  logic [31:0]                    in_take;

  assign host_list = number_q[32'(host_list_i)*4 +: 4];
  assign comes_for = number_q[32'(mem_tag_i.index[3:0])*4 +: 4];

  always_comb begin
    front = '0;
    for (int unsigned i = 0; i < VertexLists; i++) if (in == 4'(i)) front = front | fronts[i*DataW +: DataW];
  end

  always_comb begin
    in_take = 32'(takes_vertex);
    if (setup_q.vertex_mode) in_take = (active && set_up_q && forsaken_i) ? in_ready : given;
  end

  for (genvar i = 0; i < VertexLists; i++) begin : gen_lists
    logic [LaneW-1:0] enters;

    always_comb begin
      enters = '0;
      if (push && to == 4'(i)) enters = LaneW'(pushes);
      if (host_i == graphpeg_pkg::HostPush && host_list == 4'(i)) enters = LaneW'(1);
    end

    graphpeg_list #(
      .Lanes      (Lanes),
      .Line       (Line),
      .Words      (ListWords),
      .RegionLines(RegionLines)
    ) u_list (
      .clk_i,
      .rst_ni,
      .clear_i        (host_i == graphpeg_pkg::HostClear),
      .set_i          (host_i == graphpeg_pkg::HostLines && host_list == 4'(i)),
      .set_first_i    (LineIdW'(host_vertex_i)),
      .set_lines_i    (LinesW'(host_lines_i)),
      .line_valid_i   (refill_comes && comes_for == 4'(i)),
      .line_ticket_i  (mem_tag_i.ticket),
      .line_data_i    (mem_data_i),
      .ready_o        (ready[i*32 +: 32]),
      .size_o         (size[i*32 +: 32]),
      .read_at_i      (pop_at),
      .read_data_o    (fronts[i*DataW +: DataW]),
      .take_i         ((in == 4'(i)) ? in_take : 32'd0),
      .room_o         (room[i*32 +: 32]),
      .push_i         (enters),
      .push_lanes_i   (push_lanes),
      .push_at_i      (push_at),
      .push_data_i    (push_data),
      .want_spill_o   (want_spill[i]),
      .overflow_o     (overflow[i]),
      .spill_data_o   (spill_data[i*Line*32 +: Line*32]),
      .spill_line_o   (spill_line[i*LineIdW +: LineIdW]),
      .spill_i        (spill[i]),
      .want_refill_o  (want_refill[i]),
      .refill_line_o  (refill_line[i*LineIdW +: LineIdW]),
      .refill_ticket_o(refill_ticket[i*3 +: 3]),
      .refill_i       (refill[i]),
      .next_size_o    (size_d[i*32 +: 32])
    );
  end

  // A line is spilled, and one refilled: of the first list that wants it, by number.

  logic       spills, refills, overflows;
  logic [3:0] spiller, refiller;

  always_comb begin : choose_spill
    logic [3:0] p;
    spills    = 1'b0;
    spiller   = '0;
    overflows = 1'b0;
    for (int unsigned i = VertexLists; i > 0; i--) begin
      p = number_q[(i-1)*4 +: 4];
      if (active && want_spill[ListW'(p)] && port_free[2]) begin
        spills    = !overflow[ListW'(p)];
        overflows = overflow[ListW'(p)];
        spiller   = p;
      end
    end
    if (host_i == graphpeg_pkg::HostSpill) spiller = host_list;
  end

  always_comb begin
    spill = '0;
    if (spills || host_i == graphpeg_pkg::HostSpill) spill[ListW'(spiller)] = 1'b1;
  end

  always_comb begin : choose_refill
    logic [3:0] p;
    refills  = 1'b0;
    refiller = '0;
    refilled = '0;
    for (int unsigned i = VertexLists; i > 0; i--) begin
      p = number_q[(i-1)*4 +: 4];
      if (active && want_refill[ListW'(p)] && port_free[3]) begin
        refills  = 1'b1;
        refiller = p;
        refilled = 4'(i - 1);
      end
    end
  end

  always_comb begin
    refill = '0;
    if (refills) refill[ListW'(refiller)] = 1'b1;
  end

  logic [Line*32-1:0] spilled;

  always_comb begin
    spilled = '0;
    for (int unsigned i = 0; i < VertexLists; i++) if (spill[i]) spilled = spilled | spill_data[i*Line*32 +: Line*32];
  end

  assign host_line_o = region_q[32'(spiller)*32 +: 32] + 32'(spill_line[32'(spiller)*LineIdW +: LineIdW]) * LineBytes;

  logic spilling;

  graphpeg_port #(
    .Line         (Line),
    .SpillByVertex(SpillByVertex)
  ) u_port (
    .clk_i,
    .rst_ni,
    .free_o         (port_free),
    .offsets_i      (fi),
    .offsets_addr_i (offsets_addr),
    .offsets_two_i  (offsets_addr[LineA+1:2] == LineA'(Line - 1)),
    .offsets_entry_i(16'(fi_entry)),
    .edges_i        (fetches),
    .edges_addr_i   (edges_addr),
    .weights_addr_i (weights_addr),
    .weights_lines_i(weight_lines),
    .edges_slot_i   (16'(slot)),
    .spill_i        (spills),
    .spill_addr_i   (host_line_o),
    .spill_data_i   (spilled),
    .refill_i       (refills),
    .refill_addr_i  (region_q[32'(refiller)*32 +: 32] + 32'(refill_line[32'(refiller)*LineIdW +: LineIdW]) * LineBytes),
    .refill_list_i  (16'(refilled)),
    .refill_ticket_i(refill_ticket[32'(refiller)*3 +: 3]),
    .req_ready_i    (active && req_ready_i),
    .req_valid_o,
    .req_write_o,
    .req_addr_o,
    .req_tag_o,
    .req_data_o,
    .spilling_o     (spilling)
  );

  // The control processor is told: of a command's outcome, of an insertion, and of every change between drained and not.

  logic                  drained, told;
  logic [2:0]            adds;
  graphpeg_pkg::report_t outcome;
  graphpeg_pkg::event_e  change;

  assign told = told_q && !receive;  // a range that has been received is told of at once

  always_comb begin
    drained = left == '0 && size_d[32'(in)*32 +: 32] == '0 && alwt_empty && !(pending && !inserts);
    if (setup_q.vertex_mode) drained = size_d[32'(in)*32 +: 32] == '0;
    if (!set_up_q) drained = 1'b1;
  end

  always_comb begin
    outcome  = '0;
    adds     = '0;
    case (cmd)
      graphpeg_pkg::OrdRead: begin
        outcome.kind     = graphpeg_pkg::EvValue;
        outcome.edges    = 32'(reserved) + alwt_left;
        outcome.vertices = size[32'(out)*32 +: 32];
        adds[0]          = 1'b1;
      end
      graphpeg_pkg::OrdDonate: begin
        outcome.kind  = cut_valid ? graphpeg_pkg::EvDonated : graphpeg_pkg::EvRefused;
        if (cut_valid) outcome.range = cut;
        adds[0]       = 1'b1;
      end
      graphpeg_pkg::OrdReceive: begin
        outcome.kind = graphpeg_pkg::EvNotDrained;
        adds[0]      = told_q;
      end
      default: adds[0] = 1'b0;
    endcase
    adds[1] = inserts;
    change  = drained ? graphpeg_pkg::EvDrained : graphpeg_pkg::EvNotDrained;
    adds[2] = active && drained != told;
  end

  graphpeg_reports u_reports (
    .clk_i,
    .rst_ni,
    .clear_i (launch_i),
    .add_i   (adds),
    .first_i (outcome),
    .second_i(graphpeg_pkg::EvInserted),
    .third_i (change),
    .valid_o (rep_valid_o),
    .report_o(rep_o),
    .ready_i (active && rep_ready_i)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_q <= 1'b0;
      standby_q <= 1'b0;
      done_q    <= 1'b0;
      told_q    <= 1'b0;
    end else if (launch_i) begin
      pending_q <= 1'b0;
      standby_q <= 1'b0;
      done_q    <= 1'b0;
      told_q    <= 1'b0;
    end else if (active) begin
      pending_q <= pending && !inserts;
      done_q    <= done;
      told_q    <= drained;
      if (cmd == graphpeg_pkg::OrdStandby) standby_q <= 1'b1;
      if (cmd == graphpeg_pkg::OrdRelease || receive) standby_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) range_q <= range;

  always_comb begin
    err_o = graphpeg_pkg::ErrNone;
    if (overflows) err_o = graphpeg_pkg::ErrOverflow;
    if (takes_vertex && !fi) err_o = graphpeg_pkg::ErrVertex;
    if (wrong) err_o = graphpeg_pkg::ErrOffsets;
    if (head && mistake != graphpeg_pkg::ErrNone) err_o = mistake;
  end

  assign trace_o.efs      = 32'(left) + alwt_left_d;
  assign trace_o.reserved = 16'(left);
  assign trace_o.filled   = 16'(left_valid);
  assign trace_o.run      = 16'(run) - 16'(buffer_take);
  assign trace_o.pops     = 16'(pops) + 16'(head && is_pop && mistake == graphpeg_pkg::ErrNone) - 16'(served);
  assign trace_o.in_size  = size_d[32'(in)*32 +: 32];
  assign trace_o.out_size = size_d[32'(out)*32 +: 32];
  assign trace_o.pending  = pending && !inserts;
  assign trace_o.standby  = (standby_q || cmd == graphpeg_pkg::OrdStandby) && cmd != graphpeg_pkg::OrdRelease && !receive;
  assign trace_o.drained  = drained;

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      ReceivesOnStandby: assert (!receive || (!pending_q && standby_q));
      SetUpFirst:        assert (!head || set_up_q);
      LaunchedAtRest:    assert (!launch_i || (!spilling && !mem_valid_i));
      PopsHaveRoom:      assert (32'(pops) <= Warps);
    end
  end

endmodule
