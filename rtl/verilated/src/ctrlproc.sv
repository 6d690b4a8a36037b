// The control processor with a word for each field of a message, for ctrlproc.cpp. It adds no logic.

module harness #(
  parameter int unsigned Cores           = 4,
  parameter int unsigned Group           = 1,
  parameter int unsigned Interval        = 512,
  parameter int unsigned ThresholdShift  = 4,
  parameter int unsigned Threshold       = 0,
  parameter bit          BalanceEdges    = 1'b1,
  parameter bit          BalanceVertices = 1'b0
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 launch_i,
  input  logic [Cores*32-1:0]  said_i,     // bit 0 of each word
  input  logic [Cores*256-1:0] rep_i,      // words: the first field lowest
  input  logic [Cores*32-1:0]  ready_i,
  output logic [Cores*32-1:0]  ordered_o,
  output logic [Cores*256-1:0] cmd_o,
  output logic                 done_o
);

  localparam int unsigned RepW = ctrlproc_pkg::ReportW;
  localparam int unsigned CmdW = ctrlproc_pkg::CommandW;

  logic [Cores-1:0]      said, ready, ordered;
  logic [Cores*RepW-1:0] rep;
  logic [Cores*CmdW-1:0] cmd;
  logic                  unused_polling;
  logic [Cores-1:0]      unused_unread, unused_drained;
  logic [2*Cores-1:0]    unused_giving, unused_receiving;

  for (genvar i = 0; i < Cores; i++) begin : gen_cores
    assign said[i]  = said_i[i*32];
    assign ready[i] = ready_i[i*32];
    assign rep[i*RepW +: RepW] = {
      rep_i[i*256 +: 3], rep_i[i*256+32 +: 32], rep_i[i*256+64 +: 32], rep_i[i*256+96 +: 32], rep_i[i*256+128 +: 32],
      rep_i[i*256+160 +: 32], rep_i[i*256+192 +: 32], rep_i[i*256+224 +: 32]};
    assign ordered_o[i*32 +: 32] = 32'(ordered[i]);
    assign {cmd_o[i*256 +: 32], cmd_o[i*256+32 +: 32], cmd_o[i*256+64 +: 32], cmd_o[i*256+96 +: 32],
            cmd_o[i*256+128 +: 32], cmd_o[i*256+160 +: 32], cmd_o[i*256+192 +: 32], cmd_o[i*256+224 +: 32]} =
           {28'd0, cmd[i*CmdW +: CmdW]};
  end

  ctrlproc #(
    .Cores          (Cores),
    .Group          (Group),
    .Interval       (Interval),
    .ThresholdShift (ThresholdShift),
    .Threshold      (Threshold),
    .BalanceEdges   (BalanceEdges),
    .BalanceVertices(BalanceVertices)
  ) u_unit (
    .clk_i,
    .rst_ni,
    .launch_i,
    .rep_valid_i      (said),
    .rep_i            (rep),
    .cmd_valid_o      (ordered),
    .cmd_o            (cmd),
    .cmd_ready_i      (ready),
    .done_o,
    .trace_polling_o  (unused_polling),
    .trace_unread_o   (unused_unread),
    .trace_drained_o  (unused_drained),
    .trace_giving_o   (unused_giving),
    .trace_receiving_o(unused_receiving)
  );

endmodule
