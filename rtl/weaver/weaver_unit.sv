// The Weaver between its queues: the oldest request comes in, an answer goes out.
//
// In each cycle the FSM takes a step and, beside it, a request that does not need the FSM is taken: weaver.reg and
// weaver.skip at once, weaver.dec.loc when the DT's pipeline has room. An answer from that pipeline has precedence over
// the FSM's, which can wait.

module weaver_unit #(
  parameter int unsigned StEntries    = 512,
  parameter int unsigned StRow        = 32,
  parameter int unsigned Warps        = 32,
  parameter int unsigned Lanes        = 32,
  parameter int unsigned TableLatency = 6,
  parameter bit          Prefetch     = 1'b1,
  parameter bit          SkipEmpty    = 1'b1,
  parameter bit          MaskByUnit   = 1'b0,
  parameter int unsigned TagW         = 8,
  localparam int unsigned WarpW = (Warps > 1) ? $clog2(Warps) : 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                launch_i,
  // The oldest request.
  input  logic                head_valid_i,
  input  weaver_pkg::fn_e     head_fn_i,
  input  logic [WarpW-1:0]    head_warp_i,
  input  logic [Lanes-1:0]    head_mask_i,
  input  logic [TagW-1:0]     head_tag_i,
  input  logic [Lanes*32-1:0] head_a_i,
  input  logic [Lanes*32-1:0] head_b_i,
  input  logic [Lanes*32-1:0] head_c_i,
  output logic                took_o,
  output weaver_pkg::err_e    err_o,       // of the request that is taken
  // The answer.
  input  logic                room_i,
  output logic                rsp_valid_o,
  output logic [TagW-1:0]     rsp_tag_o,
  output logic [Lanes*32-1:0] rsp_data_o,
  output logic                rsp_set_mask_o,
  output logic [Lanes-1:0]    rsp_mask_o,
  output weaver_pkg::trace_t  trace_o
);

  localparam int unsigned CursorW = $clog2((StEntries + StRow - 1) / StRow * StRow + 1);
  localparam int unsigned CountW  = $clog2(TableLatency + 1);

  logic is_reg, is_skip, is_decode, is_loc;

  assign is_reg    = head_valid_i && head_fn_i == weaver_pkg::FnReg;
  assign is_skip   = head_valid_i && head_fn_i == weaver_pkg::FnSkip;
  assign is_decode = head_valid_i && head_fn_i == weaver_pkg::FnDecId;
  assign is_loc    = head_valid_i && head_fn_i == weaver_pkg::FnDecLoc;

  weaver_pkg::state_e state;
  weaver_pkg::entry_t entry, ced;
  logic take_decode, epoch_begin, request, take, fill, answer, answer_head;
  logic left, ready, load, full, err_slot, err_twice, registering, epoch, st_read;
  logic skip_hit, skipping, drop;
  logic [CursorW-1:0]  cursor;
  logic [Lanes-1:0]    filled;
  logic [Lanes*32-1:0] od_vid, od_eid, dt_eid;
  logic                dt_full, dt_valid, dt_pop;
  logic [TagW-1:0]     dt_tag;
  logic [CountW-1:0]   dt_count;

  // The decode request in service.

  logic [WarpW-1:0] warp_q, warp;
  logic [TagW-1:0]  tag_q, tag;
  logic [Lanes-1:0] mask_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      warp_q <= '0;
      tag_q  <= '0;
      mask_q <= '0;
    end else if (take_decode) begin
      warp_q <= head_warp_i;
      tag_q  <= head_tag_i;
      mask_q <= head_mask_i;
    end
  end

  assign warp = answer_head ? head_warp_i : warp_q;
  assign tag  = answer_head ? head_tag_i : tag_q;

  // What the oldest request does.

  assign epoch       = state == weaver_pkg::StEnd;
  assign registering = epoch || state == weaver_pkg::StInit;
  assign took_o      = is_reg || is_skip || (is_loc && !dt_full) || take_decode;

  always_comb begin
    err_o = weaver_pkg::ErrNone;
    if (is_reg) begin
      if (!registering) err_o = weaver_pkg::ErrDecoding;
      else if (err_twice) err_o = weaver_pkg::ErrTwice;
      else if (err_slot) err_o = weaver_pkg::ErrSlot;
    end
  end

  weaver_fsm u_fsm (
    .clk_i,
    .rst_ni,
    .launch_i,
    .reg_i    (is_reg),
    .decode_i (is_decode),
    .decode_o (take_decode),
    .left_i   (left),
    .ready_i  (ready),
    .full_i   (full),
    .begin_o  (epoch_begin),
    .request_o(request),
    .take_o   (take),
    .fill_o   (fill),
    .room_i   (room_i && !dt_valid),
    .answer_o (answer),
    .head_o   (answer_head),
    .state_o  (state)
  );

  weaver_st #(
    .Entries  (StEntries),
    .Row      (StRow),
    .Warps    (Warps),
    .Lanes    (Lanes),
    .Latency  (TableLatency),
    .Prefetch (Prefetch),
    .SkipEmpty(SkipEmpty)
  ) u_st (
    .clk_i,
    .rst_ni,
    .launch_i,
    .reg_i      (is_reg && registering),
    .epoch_i    (epoch),
    .warp_i     (head_warp_i),
    .mask_i     (head_mask_i),
    .vid_i      (head_a_i),
    .loc_i      (head_b_i),
    .deg_i      (head_c_i),
    .err_slot_o (err_slot),
    .err_twice_o(err_twice),
    .begin_i    (epoch_begin),
    .request_i  (request),
    .take_i     (take),
    .left_o     (left),
    .ready_o    (ready),
    .load_o     (load),
    .entry_o    (entry),
    .cursor_o   (cursor),
    .read_o     (st_read)
  );

  weaver_od #(
    .Lanes(Lanes)
  ) u_od (
    .clk_i,
    .rst_ni,
    .clear_i   (launch_i || (is_reg && epoch)),
    .take_i    (take && ready),
    .load_i    (load),
    .entry_i   (entry),
    .skip_i    (is_skip),
    .mask_i    (head_mask_i),
    .vid_i     (head_a_i),
    .ced_o     (ced),
    .fill_i    (fill),
    .want_i    (mask_q),
    .full_o    (full),
    .emit_i    (answer),
    .filled_o  (filled),
    .od_vid_o  (od_vid),
    .od_eid_o  (od_eid),
    .skip_hit_o(skip_hit),
    .skipping_o(skipping),
    .drop_o    (drop)
  );

  weaver_dt #(
    .Warps  (Warps),
    .Lanes  (Lanes),
    .Latency(TableLatency),
    .TagW   (TagW)
  ) u_dt (
    .clk_i,
    .rst_ni,
    .launch_i,
    .write_i     (answer),
    .write_warp_i(warp),
    .write_eid_i (od_eid),
    .read_i      (is_loc && !dt_full),
    .read_warp_i (head_warp_i),
    .read_tag_i  (head_tag_i),
    .full_o      (dt_full),
    .valid_o     (dt_valid),
    .pop_i       (dt_pop),
    .eid_o       (dt_eid),
    .tag_o       (dt_tag),
    .count_o     (dt_count)
  );

  // The answer.

  assign dt_pop         = dt_valid && room_i;
  assign rsp_valid_o    = dt_pop || answer;
  assign rsp_tag_o      = dt_pop ? dt_tag : tag;
  assign rsp_data_o     = dt_pop ? dt_eid : od_vid;
  assign rsp_set_mask_o = MaskByUnit && !dt_pop && filled != '0;
  assign rsp_mask_o     = filled;

  always_comb begin
    trace_o          = '0;
    trace_o.state    = state;
    trace_o.ced      = ced;
    trace_o.cursor   = 17'(cursor);
    trace_o.filled   = 32'(filled);
    trace_o.dt_reads = 16'(dt_count);
    trace_o.st_read  = st_read;
    trace_o.skip_hit = skip_hit;
    trace_o.skipping = skipping;
    trace_o.drop     = drop;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      RequestHasALane:      assert (!(head_valid_i && head_mask_i == '0));
      RequestIsOfAWarp:     assert (!(head_valid_i && 32'(head_warp_i) >= Warps));
      AnswersHaveRoom:      assert (!(rsp_valid_o && !room_i));
      EndMeansNothingIsLeft: assert (!(epoch && (left || ced.deg != '0 || filled != '0)));
      OnlyWantedLanes:      assert (!(answer && (filled & ~mask_q) != '0));
    end
  end

endmodule
