// The part of the GPU's control processor that balances work among the cores' graph units (GraphPEG, §3.3.2), and detects
// the end of all work.
//
// In a cycle it takes a report of each core, polls or balances, and sends a command to each. Reports are never kept
// waiting; commands wait in a queue for each core. Both may leave in the cycle of their cause. What is on the way between
// it and the cores, the on-chip network, is not here.
//
// A message from each core and one to each, in a cycle, is a crossbar for what donors report: 96 bits of a range of edges
// (and 64 of vertices) from any core to any other. It grows with the square of the number of cores; a processor that took
// one report a cycle would do without, but not in the cycles of the Go model.

module ctrlproc #(
  parameter int unsigned Cores           = 4,
  parameter int unsigned Group           = 1,    // cores; 1: no groups
  parameter int unsigned Interval        = 512,  // cycles between the starts of two polls
  parameter int unsigned ThresholdShift  = 4,
  parameter int unsigned Threshold       = 0,    // 0: by ThresholdShift
  parameter bit          BalanceEdges    = 1'b1,
  parameter bit          BalanceVertices = 1'b0,
  localparam int unsigned CoreW = (Cores > 1) ? $clog2(Cores) : 1,
  localparam int unsigned RepW  = ctrlproc_pkg::ReportW,
  localparam int unsigned CmdW  = ctrlproc_pkg::CommandW
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  launch_i,         // what else happens in this cycle is void
  // By core.
  input  logic [Cores-1:0]      rep_valid_i,
  input  logic [Cores*RepW-1:0] rep_i,
  output logic [Cores-1:0]      cmd_valid_o,
  output logic [Cores*CmdW-1:0] cmd_o,
  input  logic [Cores-1:0]      cmd_ready_i,
  output logic                  done_o,           // the launch's work has ended, before this cycle
  // State that is visible from outside after this cycle, for comparison with the Go model: it drives nothing.
  output logic                  trace_polling_o,
  output logic [Cores-1:0]      trace_unread_o,
  output logic [Cores-1:0]      trace_drained_o,
  output logic [2*Cores-1:0]    trace_giving_o,   // edges, and from Cores on vertices
  output logic [2*Cores-1:0]    trace_receiving_o
);

  logic [31:0] epoch_q;
  logic        done_q;

  // Reports. Those of an earlier launch are void.

  logic [Cores-1:0]    value, drains, resumes, donated, refused, inserted, gave, gave_none, got;
  logic [Cores*96-1:0] ranges;
  logic [Cores*64-1:0] pieces;
  logic [Cores*32-1:0] rep_edges, rep_vertices;

  for (genvar i = 0; i < Cores; i++) begin : gen_reports
    ctrlproc_report u_report (
      .valid_i      (rep_valid_i[i] && !launch_i),
      .report_i     (rep_i[i*RepW +: RepW]),
      .epoch_i      (epoch_q),
      .value_o      (value[i]),
      .drained_o    (drains[i]),
      .not_drained_o(resumes[i]),
      .donated_o    (donated[i]),
      .refused_o    (refused[i]),
      .inserted_o   (inserted[i]),
      .gave_o       (gave[i]),
      .gave_none_o  (gave_none[i]),
      .got_o        (got[i]),
      .edges_o      (rep_edges[i*32 +: 32]),
      .vertices_o   (rep_vertices[i*32 +: 32]),
      .range_o      (ranges[i*96 +: 96]),
      .piece_o      (pieces[i*64 +: 64])
    );
  end

  // The end: all cores are drained, and nothing is on its way.

  logic [Cores-1:0] drained, giving, receiving, giving_vertices, receiving_vertices;
  logic             ends;

  assign ends   = !done_q && !launch_i && drained == '1 && receiving == '0 && receiving_vertices == '0;
  assign done_o = done_q;

  // Polls.

  logic [Cores-1:0] read;
  logic             balance;

  if (BalanceEdges || BalanceVertices) begin : gen_poll
    ctrlproc_poll #(
      .Cores   (Cores),
      .Group   (Group),
      .Interval(Interval)
    ) u_poll (
      .clk_i,
      .rst_ni,
      .launch_i,
      .run_i    (!done_q && !ends && !launch_i),
      .value_i  (value),
      .read_o   (read),
      .balance_o(balance),
      .polling_o(trace_polling_o),
      .unread_o (trace_unread_o)
    );
  end else begin : gen_no_poll
    logic unused_balance;
    assign unused_balance  = balance;
    assign read            = '0;
    assign balance         = 1'b0;
    assign trace_polling_o = 1'b0;
    assign trace_unread_o  = '0;
  end

  // Balancing, of each kind.

  logic [Cores*32-1:0]    edges, vertices, half, half_vertices;  // by core
  logic [Cores-1:0]       donate, standby, donate_vertices, receive_vertices;
  logic [Cores-1:0]       range_comes, range_lapses, piece_comes;
  logic [Cores*96-1:0]    range;                                 // by receiver
  logic [Cores*64-1:0]    piece;
  logic [Cores*CoreW-1:0] donor, donor_vertices;

  if (BalanceEdges) begin : gen_edges
    logic [Cores*CoreW-1:0] new_donor;

    ctrlproc_balancer #(
      .Cores         (Cores),
      .Group         (Group),
      .ThresholdShift(ThresholdShift),
      .Threshold     (Threshold)
    ) u_balancer (
      .balance_i  (balance),
      .load_i     (edges),
      .giving_i   (giving),
      .receiving_i(receiving),
      .donate_o   (donate),
      .half_o     (half),
      .receive_o  (standby),
      .donor_o    (new_donor)
    );

    ctrlproc_donations #(
      .Cores(Cores)
    ) u_donations (
      .clk_i,
      .rst_ni,
      .launch_i,
      .gave_i     (donated),
      .refused_i  (refused),
      .inserted_i (inserted),
      .donor_o    (donor),
      .comes_o    (range_comes),
      .lapses_o   (range_lapses),
      .giving_o   (giving),
      .receiving_o(receiving),
      .donate_i   (donate),
      .receive_i  (standby),
      .donor_i    (new_donor)
    );

    for (genvar i = 0; i < Cores; i++) begin : gen_ranges
      ctrlproc_select #(
        .Num  (Cores),
        .Width(96)
      ) u_range (
        .index_i(donor[i*CoreW +: CoreW]),
        .data_i (ranges),
        .data_o (range[i*96 +: 96])
      );
    end
  end else begin : gen_no_edges
    logic unused_reports;
    assign unused_reports = ^{donated, refused, inserted, ranges, edges};
    assign donate         = '0;
    assign half           = '0;
    assign standby        = '0;
    assign donor          = '0;
    assign range_comes    = '0;
    assign range_lapses   = '0;
    assign giving         = '0;
    assign receiving      = '0;
    assign range          = '0;
  end

  if (BalanceVertices) begin : gen_vertices
    logic [Cores*CoreW-1:0] new_donor;
    logic [Cores-1:0]       unused_lapses;

    ctrlproc_balancer #(
      .Cores         (Cores),
      .Group         (Group),
      .ThresholdShift(ThresholdShift),
      .Threshold     (Threshold)
    ) u_balancer (
      .balance_i  (balance),
      .load_i     (vertices),
      .giving_i   (giving_vertices),
      .receiving_i(receiving_vertices),
      .donate_o   (donate_vertices),
      .half_o     (half_vertices),
      .receive_o  (receive_vertices),
      .donor_o    (new_donor)
    );

    ctrlproc_donations #(
      .Cores(Cores)
    ) u_donations (
      .clk_i,
      .rst_ni,
      .launch_i,
      .gave_i     (gave),
      .refused_i  (gave_none),
      .inserted_i (got),
      .donor_o    (donor_vertices),
      .comes_o    (piece_comes),
      .lapses_o   (unused_lapses),
      .giving_o   (giving_vertices),
      .receiving_o(receiving_vertices),
      .donate_i   (donate_vertices),
      .receive_i  (receive_vertices),
      .donor_i    (new_donor)
    );

    for (genvar i = 0; i < Cores; i++) begin : gen_pieces
      ctrlproc_select #(
        .Num  (Cores),
        .Width(64)
      ) u_piece (
        .index_i(donor_vertices[i*CoreW +: CoreW]),
        .data_i (pieces),
        .data_o (piece[i*64 +: 64])
      );
    end
  end else begin : gen_no_vertices
    logic unused_reports;
    assign unused_reports     = ^{gave, gave_none, got, pieces, vertices, receive_vertices};
    assign donate_vertices    = '0;
    assign half_vertices      = '0;
    assign receive_vertices   = '0;
    assign donor_vertices     = '0;
    assign piece_comes        = '0;
    assign giving_vertices    = '0;
    assign receiving_vertices = '0;
    assign piece              = '0;
  end

  // Of two donors of a core that report in one cycle, the one with the smaller number is heard first.

  logic [Cores-1:0] vertices_first;

  if (BalanceEdges && BalanceVertices) begin : gen_both
    for (genvar i = 0; i < Cores; i++) begin : gen_order
      assign vertices_first[i] = donor_vertices[i*CoreW +: CoreW] < donor[i*CoreW +: CoreW];
    end
  end else begin : gen_one
    logic unused_donors;
    assign unused_donors  = ^{donor, donor_vertices};
    assign vertices_first = '0;
  end

  for (genvar i = 0; i < Cores; i++) begin : gen_cores
    ctrlproc_core #(
      .BalanceEdges   (BalanceEdges),
      .BalanceVertices(BalanceVertices)
    ) u_core (
      .clk_i,
      .rst_ni,
      .launch_i,
      .epoch_i           (epoch_q),
      .value_i           (value[i]),
      .edges_i           (rep_edges[i*32 +: 32]),
      .vertices_i        (rep_vertices[i*32 +: 32]),
      .drained_i         (drains[i]),
      .not_drained_i     (resumes[i]),
      .edges_o           (edges[i*32 +: 32]),
      .vertices_o        (vertices[i*32 +: 32]),
      .drained_o         (drained[i]),
      .receive_i         (range_comes[i]),
      .range_i           (range[i*96 +: 96]),
      .release_i         (range_lapses[i]),
      .receive_vertices_i(piece_comes[i]),
      .piece_i           (piece[i*64 +: 64]),
      .vertices_first_i  (vertices_first[i]),
      .done_i            (ends),
      .read_i            (read[i]),
      .donate_i          (donate[i]),
      .half_i            (half[i*32 +: 32]),
      .standby_i         (standby[i]),
      .donate_vertices_i (donate_vertices[i]),
      .half_vertices_i   (half_vertices[i*32 +: 32]),
      .cmd_valid_o       (cmd_valid_o[i]),
      .cmd_o             (cmd_o[i*CmdW +: CmdW]),
      .cmd_ready_i       (cmd_ready_i[i])
    );
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      epoch_q <= '0;
      done_q  <= 1'b1;
    end else if (launch_i) begin
      epoch_q <= epoch_q + 32'd1;
      done_q  <= 1'b0;
    end else begin
      done_q <= done_q || ends;
    end
  end

  assign trace_drained_o   = drained;
  assign trace_giving_o    = {giving_vertices | donate_vertices, giving | donate};
  assign trace_receiving_o = {receiving_vertices | receive_vertices, receiving | standby};

endmodule
