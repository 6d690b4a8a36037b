// Donations of one kind of work that are in progress: from the order to the donor until the receiver has what was donated,
// or the donor has refused. A core is at most one's donor, and at most one's receiver.

module ctrlproc_donations #(
  parameter int unsigned Cores = 4,
  localparam int unsigned CoreW = (Cores > 1) ? $clog2(Cores) : 1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   launch_i,
  // What cores report.
  input  logic [Cores-1:0]       gave_i,       // donors that have donated
  input  logic [Cores-1:0]       refused_i,    // donors that had nothing to donate
  input  logic [Cores-1:0]       inserted_i,   // receivers
  // By receiver.
  output logic [Cores*CoreW-1:0] donor_o,      // valid while there is one
  output logic [Cores-1:0]       comes_o,      // its donor has donated in this cycle
  output logic [Cores-1:0]       lapses_o,     // its donor has refused in this cycle
  // What is in progress after the reports.
  output logic [Cores-1:0]       giving_o,
  output logic [Cores-1:0]       receiving_o,
  // New ones.
  input  logic [Cores-1:0]       donate_i,
  input  logic [Cores-1:0]       receive_i,
  input  logic [Cores*CoreW-1:0] donor_i
);

  logic [Cores-1:0]       giving_q, receiving_q, closes;
  logic [Cores*CoreW-1:0] donor_q;

  assign donor_o     = donor_q;
  assign closes      = inserted_i | lapses_o;
  assign receiving_o = receiving_q & ~closes;

  for (genvar r = 0; r < Cores; r++) begin : gen_receivers
    logic gave, refused;

    ctrlproc_select #(
      .Num  (Cores),
      .Width(1)
    ) u_gave (
      .index_i(donor_q[r*CoreW +: CoreW]),
      .data_i (gave_i),
      .data_o (gave)
    );

    ctrlproc_select #(
      .Num  (Cores),
      .Width(1)
    ) u_refused (
      .index_i(donor_q[r*CoreW +: CoreW]),
      .data_i (refused_i),
      .data_o (refused)
    );

    assign comes_o[r]  = receiving_q[r] && gave;
    assign lapses_o[r] = receiving_q[r] && refused;
  end

  always_comb begin
    giving_o = giving_q;
    for (int unsigned r = 0; r < Cores; r++) begin
      for (int unsigned d = 0; d < Cores; d++) begin
        if (closes[r] && donor_q[r*CoreW +: CoreW] == CoreW'(d)) giving_o[d] = 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      giving_q    <= '0;
      receiving_q <= '0;
    end else if (launch_i) begin
      giving_q    <= '0;
      receiving_q <= '0;
    end else begin
      giving_q    <= giving_o | donate_i;
      receiving_q <= receiving_o | receive_i;
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned r = 0; r < Cores; r++) begin
      if (receive_i[r]) donor_q[r*CoreW +: CoreW] <= donor_i[r*CoreW +: CoreW];
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && !launch_i) begin
      DonorsReport:    assert (((gave_i | refused_i) & ~giving_q) == '0);
      ReceiversReport: assert ((inserted_i & ~receiving_q) == '0);
      BothOrNone:      assert ((giving_q == '0) == (receiving_q == '0));
    end
  end

endmodule
