// The Weaver between its queues, with ports of fixed widths and with what the Go model mirrors of its inside, for
// weaver.cpp. It adds no logic.

module harness #(
  parameter int unsigned StEntries    = 512,
  parameter int unsigned StRow        = 32,
  parameter int unsigned Warps        = 32,
  parameter int unsigned Lanes        = 32,
  parameter int unsigned TableLatency = 6,
  parameter bit          Prefetch     = 1'b1,
  parameter bit          SkipEmpty    = 1'b1,
  parameter bit          MaskByUnit   = 1'b0,
  localparam int unsigned WarpW = (Warps > 1) ? $clog2(Warps) : 1
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            launch_i,
  input  logic            head_valid_i,
  input  weaver_pkg::fn_e head_fn_i,
  input  logic [7:0]      head_warp_i,
  input  logic [31:0]     head_mask_i,
  input  logic [15:0]     head_tag_i,
  input  logic [1023:0]   head_a_i,
  input  logic [1023:0]   head_b_i,
  input  logic [1023:0]   head_c_i,
  input  logic            room_i,
  output logic            took_o,
  output logic [1:0]      err_o,
  output logic            rsp_valid_o,
  output logic            rsp_dt_o,      // the answer comes from the DT's pipeline
  output logic [15:0]     rsp_tag_o,
  output logic [1023:0]   rsp_data_o,
  output logic            rsp_set_mask_o,
  output logic [31:0]     rsp_mask_o,
  output logic [3:0]      state_o,
  output logic [31:0]     ced_vid_o,
  output logic [31:0]     ced_loc_o,
  output logic [31:0]     ced_deg_o,
  output logic [31:0]     cursor_o,
  output logic [31:0]     filled_o,
  output logic [15:0]     dt_reads_o,
  output logic            st_read_o,
  output logic            skip_hit_o,
  output logic            skipping_o,    // a skip is pending
  output logic            drop_o,
  output logic [1023:0]   od_vid_o,
  output logic [1023:0]   od_eid_o
);

  logic [Lanes*32-1:0] data;
  logic [Lanes-1:0]    mask;
  weaver_pkg::err_e    err;
  weaver_pkg::trace_t  trace;

  weaver_unit #(
    .StEntries   (StEntries),
    .StRow       (StRow),
    .Warps       (Warps),
    .Lanes       (Lanes),
    .TableLatency(TableLatency),
    .Prefetch    (Prefetch),
    .SkipEmpty   (SkipEmpty),
    .MaskByUnit  (MaskByUnit),
    .TagW        (16)
  ) u_unit (
    .clk_i,
    .rst_ni,
    .launch_i,
    .head_valid_i,
    .head_fn_i,
    .head_warp_i   (head_warp_i[WarpW-1:0]),
    .head_mask_i   (head_mask_i[Lanes-1:0]),
    .head_tag_i,
    .head_a_i      (head_a_i[Lanes*32-1:0]),
    .head_b_i      (head_b_i[Lanes*32-1:0]),
    .head_c_i      (head_c_i[Lanes*32-1:0]),
    .took_o,
    .err_o         (err),
    .room_i,
    .rsp_valid_o,
    .rsp_tag_o,
    .rsp_data_o    (data),
    .rsp_set_mask_o,
    .rsp_mask_o    (mask),
    .trace_o       (trace)
  );

  assign err_o      = err;
  assign rsp_dt_o   = u_unit.dt_pop;
  assign rsp_data_o = 1024'(data);
  assign rsp_mask_o = 32'(mask);
  assign state_o    = trace.state;
  assign ced_vid_o  = trace.ced.vid;
  assign ced_loc_o  = trace.ced.loc;
  assign ced_deg_o  = trace.ced.deg;
  assign cursor_o   = 32'(trace.cursor);
  assign filled_o   = trace.filled;
  assign dt_reads_o = trace.dt_reads;
  assign st_read_o  = trace.st_read;
  assign skip_hit_o = trace.skip_hit;
  assign skipping_o = trace.skipping;
  assign drop_o     = trace.drop;
  assign od_vid_o   = 1024'(u_unit.od_vid);
  assign od_eid_o   = 1024'(u_unit.od_eid);

endmodule
