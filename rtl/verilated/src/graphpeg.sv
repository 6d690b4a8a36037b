// The GraphPEG with ports of fixed widths, for graphpeg.cpp. It adds no logic.

module harness #(
  parameter int unsigned Lanes           = 32,
  parameter int unsigned Warps           = 32,
  parameter int unsigned Line            = 16,
  parameter int unsigned AlwtEntries     = 24,
  parameter int unsigned Slots           = 512,
  parameter int unsigned VertexLists     = 4,
  parameter int unsigned ListWords       = 2944,
  parameter int unsigned RegionLines     = 65536,
  parameter int unsigned BufferLatency   = 6,
  parameter bit          ReleaseAtReturn = 1'b0,
  parameter bit          SpillByVertex   = 1'b0,
  parameter bit          DonationFirst   = 1'b0,
  localparam int unsigned WarpW = (Warps > 1) ? $clog2(Warps) : 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  launch_i,
  input  logic                  forsaken_i,
  input  graphpeg_pkg::host_e   host_i,
  input  logic [351:0]          setup_i,      // words of the set-up, the first one lowest
  input  logic [3:0]            host_list_i,
  input  logic [3:0]            host_other_i,
  input  logic [31:0]           host_vertex_i,
  input  logic [31:0]           host_lines_i,
  input  logic                  head_valid_i,
  input  logic [3:0]            head_fn_i,
  input  logic [7:0]            head_warp_i,
  input  logic [31:0]           head_mask_i,
  input  logic [15:0]           head_tag_i,
  input  logic [1023:0]         head_a_i,
  input  logic [1023:0]         head_b_i,
  output logic                  took_o,
  output logic [3:0]            err_o,
  input  logic                  room_i,
  output logic                  rsp_valid_o,
  output logic [15:0]           rsp_tag_o,
  output logic [1023:0]         rsp_data_o,
  input  logic                  req_ready_i,
  output logic                  req_valid_o,
  output logic                  req_write_o,
  output logic [31:0]           req_addr_o,
  output logic [31:0]           req_tag_o,
  output logic [Line*32-1:0]    req_data_o,
  input  logic                  mem_valid_i,
  input  logic [31:0]           mem_tag_i,
  input  logic [Line*32-1:0]    mem_data_i,
  input  graphpeg_pkg::order_e  cmd_i,
  input  logic                  cmd_late_i,   // of an earlier launch
  input  logic [31:0]           cmd_edges_i,
  input  logic [31:0]           cmd_first_i,
  input  logic [31:0]           cmd_last_i,
  input  logic [31:0]           cmd_base_i,
  input  logic                  rep_ready_i,
  output logic                  rep_valid_o,
  output logic [2:0]            rep_kind_o,
  output logic [31:0]           rep_edges_o,
  output logic [31:0]           rep_vertices_o,
  output logic [31:0]           rep_first_o,
  output logic [31:0]           rep_last_o,
  output logic [31:0]           rep_base_o,
  output logic [31:0]           efs_o,
  output logic [31:0]           in_size_o,
  output logic [31:0]           out_size_o,
  output logic [15:0]           reserved_o,
  output logic [15:0]           filled_o,
  output logic [15:0]           run_o,
  output logic [15:0]           pops_o,
  output logic [15:0]           fi_o,
  output logic [15:0]           rd_o,
  output logic [15:0]           fe_o,
  output logic                  pending_o,
  output logic                  standby_o,
  output logic                  drained_o
);

  logic [Lanes*32-1:0]   data;
  logic [31:0]           unused_line;
  graphpeg_pkg::err_e    err;
  graphpeg_pkg::tag_t    tag;
  graphpeg_pkg::setup_t  setup;
  graphpeg_pkg::range_t  range;
  graphpeg_pkg::report_t rep;
  graphpeg_pkg::trace_t  trace;

  assign setup = {setup_i[0], setup_i[32], setup_i[64 +: 4], setup_i[96 +: 32], setup_i[128 +: 32], setup_i[160 +: 32],
                  setup_i[192 +: 32], setup_i[224 +: 32], setup_i[256 +: 4], setup_i[288 +: 4], setup_i[320 +: 32]};
  assign range = {cmd_first_i, cmd_last_i, cmd_base_i};

  graphpeg #(
    .Lanes          (Lanes),
    .Warps          (Warps),
    .Line           (Line),
    .AlwtEntries    (AlwtEntries),
    .Slots          (Slots),
    .VertexLists    (VertexLists),
    .ListWords      (ListWords),
    .RegionLines    (RegionLines),
    .BufferLatency  (BufferLatency),
    .ReleaseAtReturn(ReleaseAtReturn),
    .SpillByVertex  (SpillByVertex),
    .DonationFirst  (DonationFirst),
    .TagW           (16)
  ) u_unit (
    .clk_i,
    .rst_ni,
    .launch_i,
    .forsaken_i,
    .host_i,
    .host_setup_i (setup),
    .host_list_i,
    .host_other_i,
    .host_vertex_i,
    .host_lines_i,
    .host_line_o  (unused_line),
    .head_valid_i,
    .head_fn_i,
    .head_warp_i  (head_warp_i[WarpW-1:0]),
    .head_mask_i  (head_mask_i[Lanes-1:0]),
    .head_tag_i,
    .head_a_i     (head_a_i[Lanes*32-1:0]),
    .head_b_i     (head_b_i[Lanes*32-1:0]),
    .took_o,
    .err_o        (err),
    .room_i,
    .rsp_valid_o,
    .rsp_tag_o,
    .rsp_data_o   (data),
    .req_ready_i,
    .req_valid_o,
    .req_write_o,
    .req_addr_o,
    .req_tag_o    (tag),
    .req_data_o,
    .mem_valid_i,
    .mem_tag_i    (mem_tag_i[$bits(graphpeg_pkg::tag_t)-1:0]),
    .mem_data_i,
    .cmd_i,
    .cmd_epoch_i  (u_unit.epoch_q - 32'(cmd_late_i)),
    .cmd_edges_i,
    .cmd_range_i  (range),
    .rep_ready_i,
    .rep_valid_o,
    .rep_o        (rep),
    .trace_o      (trace)
  );

  assign err_o          = err;
  assign rsp_data_o     = 1024'(data);
  assign req_tag_o      = 32'(tag);
  assign rep_kind_o     = rep.kind;
  assign rep_edges_o    = rep.edges;
  assign rep_vertices_o = rep.vertices;
  assign rep_first_o    = rep.range.first;
  assign rep_last_o     = rep.range.last;
  assign rep_base_o     = rep.range.base;
  assign efs_o          = trace.efs;
  assign in_size_o      = trace.in_size;
  assign out_size_o     = trace.out_size;
  assign reserved_o     = trace.reserved;
  assign filled_o       = trace.filled;
  assign run_o          = trace.run;
  assign pops_o         = trace.pops;
  assign fi_o           = trace.fi;
  assign rd_o           = trace.rd;
  assign fe_o           = trace.fe;
  assign pending_o      = trace.pending;
  assign standby_o      = trace.standby;
  assign drained_o      = trace.drained;

endmodule
