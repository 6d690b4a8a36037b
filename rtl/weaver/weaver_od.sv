// The Current Entry Data (CED), and the Output Data (OD) of the lanes: in one cycle (S2) the current entry's next edges
// go to all free lanes that it can cover, lowest first.

module weaver_od #(
  parameter int unsigned Lanes = 32
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                clear_i,   // neither an entry nor edges
  // The current entry.
  input  logic                take_i,    // it becomes entry_i, or none without load_i
  input  logic                load_i,
  input  weaver_pkg::entry_t  entry_i,
  input  logic                skip_i,    // drop it if its vertex is vid_i of a lane of mask_i
  input  logic [Lanes-1:0]    mask_i,
  input  logic [Lanes*32-1:0] vid_i,
  output weaver_pkg::entry_t  ced_o,
  // The lanes.
  input  logic                fill_i,    // give edges to the lanes of want_i
  input  logic [Lanes-1:0]    want_i,
  output logic                full_o,    // by the end of this cycle all of them have one
  input  logic                emit_i,    // the edges leave
  output logic [Lanes-1:0]    filled_o,
  output logic [Lanes*32-1:0] od_vid_o,  // -1 in lanes without an edge
  output logic [Lanes*32-1:0] od_eid_o,
  // Visible from outside alone.
  output logic                skip_hit_o,
  output logic                skipping_o,
  output logic                drop_o
);

  localparam int unsigned RankW = $clog2(Lanes + 1);

  weaver_pkg::entry_t  ced_q, ced_d;
  logic                drop_q, drop_d;  // a skip of the current entry is pending
  logic [Lanes-1:0]    filled_q, filled_d, gets;
  logic [RankW-1:0]    given, most;     // edges that are given, and of which there are for all lanes at most
  logic [Lanes*RankW-1:0] rank;         // by lane: edges that are given to lower ones
  logic                match, hit, drop;

  always_comb begin
    match = 1'b0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (mask_i[l] && vid_i[l*32 +: 32] == ced_q.vid) match = 1'b1;
    end
  end

  assign hit  = skip_i && match && ced_q.deg != '0;
  assign drop = drop_q || hit;

  assign most = (ced_q.deg > 32'(Lanes)) ? RankW'(Lanes) : RankW'(ced_q.deg);

  // Each free lane gets the edge that its rank among the free lanes names.
  always_comb begin
    gets  = '0;
    given = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      rank[l*RankW +: RankW] = given;
      if (fill_i && !drop && want_i[l] && !filled_q[l] && given < most) begin
        gets[l] = 1'b1;
        given   = given + RankW'(1);
      end
    end
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_lanes
    weaver_lane #(
      .RankW(RankW)
    ) u_lane (
      .clk_i,
      .gets_i  (gets[l]),
      .vid_i   (ced_q.vid),
      .loc_i   (ced_q.loc),
      .rank_i  (rank[l*RankW +: RankW]),
      .filled_i(filled_q[l]),
      .vid_o   (od_vid_o[l*32 +: 32]),
      .eid_o   (od_eid_o[l*32 +: 32])
    );
  end

  assign full_o = (want_i & ~(filled_q | gets)) == '0;

  always_comb begin
    ced_d = ced_q;
    if (fill_i) begin
      ced_d.loc = ced_q.loc + 32'(given);
      ced_d.deg = drop ? '0 : ced_q.deg - 32'(given);
    end
    if (take_i) ced_d = load_i ? entry_i : '0;
    if (clear_i) ced_d = '0;

    drop_d   = drop && !fill_i && !take_i && !clear_i;
    filled_d = (clear_i || emit_i) ? '0 : filled_q | gets;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ced_q    <= '0;
      drop_q   <= 1'b0;
      filled_q <= '0;
    end else begin
      ced_q    <= ced_d;
      drop_q   <= drop_d;
      filled_q <= filled_d;
    end
  end

  assign ced_o      = ced_q;
  assign filled_o   = filled_q;
  assign skip_hit_o = hit && !drop_q;
  assign skipping_o = drop_q;
  assign drop_o     = fill_i && drop;

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      OneActionAtATime:     assert (32'(fill_i) + 32'(take_i) + 32'(emit_i) <= 32'd1);
      TakenWhenEmpty:       assert (!(take_i && ced_q.deg != '0));
      FullOrEntryUsedUp:    assert (!(fill_i && !full_o && ced_d.deg != '0 && !clear_i));
      DropNeedsAnEntry:     assert (!(drop_q && ced_q.deg == '0));
    end
  end

endmodule
