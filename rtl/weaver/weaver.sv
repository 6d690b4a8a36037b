// The Weaver of a core, with its ends of the accelerator socket: a queue of requests, and a register and a skid buffer
// for answers. Parameters are the keys of core.weaver in a machine's configuration.
//
// Req: req_valid_i with its fields until req_ready_o. A request has an active lane. Warp: its number; tag: whatever the
// core wants back with the answer. a, b, c are rs1, rs2, rs3 of the lanes. Answers belong to weaver.dec.id and
// weaver.dec.loc; the others are done when the queue has taken them, and take effect in the order of arrival.
//
// Rsp: rsp_valid_o with its fields until rsp_ready_i. With rsp_set_mask_o, rsp_mask_o becomes the warp's thread mask.
//
// launch_i begins a kernel: registrations and edges are forgotten. The queues are not: it comes when they are empty.

module weaver #(
  parameter int unsigned StEntries    = 512,
  parameter int unsigned StRow        = 32,    // a power of two, as are Lanes
  parameter int unsigned Warps        = 32,
  parameter int unsigned Lanes        = 32,
  parameter int unsigned TableLatency = 6,
  parameter bit          Prefetch     = 1'b1,
  parameter bit          SkipEmpty    = 1'b1,
  parameter bit          MaskByUnit   = 1'b0,
  parameter int unsigned RequestQueue = 32,
  parameter int unsigned TagW         = 8,
  localparam int unsigned WarpW = (Warps > 1) ? $clog2(Warps) : 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                launch_i,

  input  logic                req_valid_i,
  output logic                req_ready_o,
  input  weaver_pkg::fn_e     req_fn_i,
  input  logic [WarpW-1:0]    req_warp_i,
  input  logic [Lanes-1:0]    req_mask_i,
  input  logic [TagW-1:0]     req_tag_i,
  input  logic [Lanes*32-1:0] req_a_i,
  input  logic [Lanes*32-1:0] req_b_i,
  input  logic [Lanes*32-1:0] req_c_i,

  output logic                rsp_valid_o,
  input  logic                rsp_ready_i,
  output logic [TagW-1:0]     rsp_tag_o,
  output logic [Lanes*32-1:0] rsp_data_o,
  output logic                rsp_set_mask_o,
  output logic [Lanes-1:0]    rsp_mask_o,

  output weaver_pkg::err_e    err_o,    // the first error of the program; it stays
  output weaver_pkg::trace_t  trace_o
);

  localparam int unsigned ReqW = 2 + WarpW + Lanes + TagW + 3 * Lanes * 32;
  localparam int unsigned RspW = TagW + Lanes * 32 + 1 + Lanes;

  logic                req_full, head_valid, took, rsp_full, answer_valid, set_mask;
  weaver_pkg::fn_e     head_fn;
  logic [WarpW-1:0]    head_warp;
  logic [Lanes-1:0]    head_mask, mask;
  logic [TagW-1:0]     head_tag, tag;
  logic [Lanes*32-1:0] head_a, head_b, head_c, data;
  weaver_pkg::err_e    err, err_q;

  weaver_fifo #(
    .Width(ReqW),
    .Depth(RequestQueue)
  ) u_requests (
    .clk_i,
    .rst_ni,
    .push_i (req_valid_i && !req_full),
    .data_i ({req_fn_i, req_warp_i, req_mask_i, req_tag_i, req_a_i, req_b_i, req_c_i}),
    .full_o (req_full),
    .pop_i  (took),
    .data_o ({head_fn, head_warp, head_mask, head_tag, head_a, head_b, head_c}),
    .valid_o(head_valid)
  );

  weaver_unit #(
    .StEntries   (StEntries),
    .StRow       (StRow),
    .Warps       (Warps),
    .Lanes       (Lanes),
    .TableLatency(TableLatency),
    .Prefetch    (Prefetch),
    .SkipEmpty   (SkipEmpty),
    .MaskByUnit  (MaskByUnit),
    .TagW        (TagW)
  ) u_unit (
    .clk_i,
    .rst_ni,
    .launch_i,
    .head_valid_i  (head_valid),
    .head_fn_i     (head_fn),
    .head_warp_i   (head_warp),
    .head_mask_i   (head_mask),
    .head_tag_i    (head_tag),
    .head_a_i      (head_a),
    .head_b_i      (head_b),
    .head_c_i      (head_c),
    .took_o        (took),
    .err_o         (err),
    .room_i        (!rsp_full),
    .rsp_valid_o   (answer_valid),
    .rsp_tag_o     (tag),
    .rsp_data_o    (data),
    .rsp_set_mask_o(set_mask),
    .rsp_mask_o    (mask),
    .trace_o
  );

  weaver_fifo #(
    .Width(RspW),
    .Depth(2)
  ) u_answers (
    .clk_i,
    .rst_ni,
    .push_i (answer_valid),
    .data_i ({tag, data, set_mask, mask}),
    .full_o (rsp_full),
    .pop_i  (rsp_valid_o && rsp_ready_i),
    .data_o ({rsp_tag_o, rsp_data_o, rsp_set_mask_o, rsp_mask_o}),
    .valid_o(rsp_valid_o)
  );

  assign req_ready_o = !req_full;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) err_q <= weaver_pkg::ErrNone;
    else if (took && err_q == weaver_pkg::ErrNone) err_q <= err;
  end

  assign err_o = err_q;

endmodule
