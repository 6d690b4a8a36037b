// The control processor's view of a core: its loads, whether it is drained, and the orders to it, with the registers that
// they carry (R_BC and R_BW of the paper; what a donor reports is copied into its receiver's).
//
// Of each order that carries something there is one at most that has not left: a donation is offered to a core without
// one, and what comes with a donation leaves before the core can end it. So the queue has orders alone, and the most that
// wait are those since a core's last answered read: Release or Receive of an older donation, then what a poll decides,
// the next read, and what comes of that decision, or the end.

module ctrlproc_core #(
  parameter bit BalanceEdges    = 1'b1,
  parameter bit BalanceVertices = 1'b1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   launch_i,
  input  logic [31:0]            epoch_i,
  // Its report.
  input  logic                   value_i,
  input  logic [31:0]            edges_i,
  input  logic [31:0]            vertices_i,
  input  logic                   drained_i,
  input  logic                   not_drained_i,
  output logic [31:0]            edges_o,             // loads, after the report
  output logic [31:0]            vertices_o,
  output logic                   drained_o,
  // Its donors' reports.
  input  logic                   receive_i,
  input  ctrlproc_pkg::range_t   range_i,
  input  logic                   release_i,
  input  logic                   receive_vertices_i,
  input  ctrlproc_pkg::piece_t   piece_i,
  input  logic                   vertices_first_i,    // their donor has the smaller number
  // Decisions.
  input  logic                   done_i,
  input  logic                   read_i,
  input  logic                   donate_i,
  input  logic [31:0]            half_i,
  input  logic                   standby_i,
  input  logic                   donate_vertices_i,
  input  logic [31:0]            half_vertices_i,
  // To it.
  output logic                   cmd_valid_o,
  output ctrlproc_pkg::command_t cmd_o,
  input  logic                   cmd_ready_i
);

  localparam int unsigned Depth = BalanceEdges ? (BalanceVertices ? 6 : 5) : (BalanceVertices ? 3 : 1);

  logic drained_q;

  assign drained_o = (drained_q || drained_i) && !not_drained_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) drained_q <= 1'b0;
    else drained_q <= drained_o && !launch_i;
  end

  // Loads, and what orders carry.

  logic [31:0]          half, half_vertices;
  ctrlproc_pkg::range_t range;
  ctrlproc_pkg::piece_t piece;

  if (BalanceEdges) begin : gen_edges
    logic [31:0]          edges_q, half_q;
    ctrlproc_pkg::range_t range_q;

    assign edges_o = value_i ? edges_i : edges_q;
    assign half    = donate_i ? half_i : half_q;
    assign range   = receive_i ? range_i : range_q;

    always_ff @(posedge clk_i) begin
      edges_q <= edges_o;
      half_q  <= half;
      range_q <= range;
    end
  end else begin : gen_no_edges
    logic unused_edges;
    assign unused_edges = ^{edges_i, half_i, range_i};
    assign edges_o      = '0;
    assign half         = '0;
    assign range        = '0;
  end

  if (BalanceVertices) begin : gen_vertices
    logic [31:0]          vertices_q, half_q;
    ctrlproc_pkg::piece_t piece_q;

    assign vertices_o    = value_i ? vertices_i : vertices_q;
    assign half_vertices = donate_vertices_i ? half_vertices_i : half_q;
    assign piece         = receive_vertices_i ? piece_i : piece_q;

    always_ff @(posedge clk_i) begin
      vertices_q <= vertices_o;
      half_q     <= half_vertices;
      piece_q    <= piece;
    end
  end else begin : gen_no_vertices
    logic unused_vertices;
    assign unused_vertices = ^{vertices_i, half_vertices_i, piece_i};
    assign vertices_o      = '0;
    assign half_vertices   = '0;
    assign piece           = '0;
  end

  if (!BalanceEdges && !BalanceVertices) begin : gen_no_loads
    logic unused_value;
    assign unused_value = value_i;
  end

  // Orders: what comes of reports, by the number of the core that has reported, and then this cycle's decisions.

  logic [3:0]           add, order;
  ctrlproc_pkg::order_e by_report, first, second, decision;

  always_comb begin
    by_report = release_i ? ctrlproc_pkg::OrdRelease : ctrlproc_pkg::OrdReceive;
    first     = by_report;
    second    = ctrlproc_pkg::OrdReceiveVertices;
    if (receive_vertices_i && (vertices_first_i || !(receive_i || release_i))) begin
      first  = ctrlproc_pkg::OrdReceiveVertices;
      second = by_report;
    end

    decision = ctrlproc_pkg::OrdDone;
    if (read_i) decision = ctrlproc_pkg::OrdRead;
    if (donate_i) decision = ctrlproc_pkg::OrdDonate;
    if (standby_i) decision = ctrlproc_pkg::OrdStandby;
    if (!BalanceEdges && donate_vertices_i) decision = ctrlproc_pkg::OrdDonateVertices;
  end

  assign add[0] = receive_i || release_i || receive_vertices_i;
  assign add[1] = (receive_i || release_i) && receive_vertices_i;
  assign add[2] = done_i || read_i || donate_i || standby_i || (!BalanceEdges && donate_vertices_i);
  assign add[3] = BalanceEdges && donate_vertices_i;

  ctrlproc_orders #(
    .Depth(Depth),
    .Two  (BalanceEdges && BalanceVertices)
  ) u_orders (
    .clk_i,
    .rst_ni,
    .clear_i (launch_i),
    .add_i   (add),
    .first_i (first),
    .second_i(second),
    .third_i (decision),
    .fourth_i(ctrlproc_pkg::OrdDonateVertices),
    .valid_o (cmd_valid_o),
    .order_o (order),
    .ready_i (cmd_ready_i)
  );

  // Fields in the order of command_t.
  always_comb begin
    cmd_o = {order, epoch_i, 192'd0};
    case (order)
      ctrlproc_pkg::OrdDonate:          cmd_o = {order, epoch_i, half, 96'd0, half, 32'd0};
      ctrlproc_pkg::OrdReceive:         cmd_o = {order, epoch_i, 32'd0, range, 64'd0};
      ctrlproc_pkg::OrdDonateVertices:  cmd_o = {order, epoch_i, half_vertices, 96'd0, half_vertices, 32'd0};
      ctrlproc_pkg::OrdReceiveVertices: cmd_o = {order, epoch_i, 128'd0, piece};
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && !launch_i) begin
      OneDecision:  assert (32'(done_i) + 32'(read_i) + 32'(donate_i) + 32'(standby_i) <= 1);
      OneOutcome:   assert (!(receive_i && release_i));
      DoneIsAlone:  assert (!(done_i && donate_vertices_i));
    end
  end

endmodule
