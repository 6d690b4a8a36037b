// The policy, for one kind of work: who donates how much to whom, by the loads that all cores have answered.
//
// The most loaded core of the most loaded group donates to the least loaded of the least loaded group, and then in each
// group the most loaded donates to the least loaded, among those without a donation in progress. Without groups (Group is
// 1) each core is one. A donation is offered if the difference, of loads or of groups' sums, reaches the threshold; it is
// half of that.
//
// All is decided in the one cycle in which the last answer comes, between groups first: a path through three trees of
// comparators and two subtractions that grows with the logarithm of the number of cores. A clock as fast as a core's would
// need registers in it, and a poll two or three cycles more of the (by default) 512 from one to the next.

module ctrlproc_balancer #(
  parameter int unsigned Cores          = 4,
  parameter int unsigned Group          = 1,
  parameter int unsigned ThresholdShift = 4,
  parameter int unsigned Threshold      = 0,  // 0: the larger load, shifted
  localparam int unsigned CoreW = (Cores > 1) ? $clog2(Cores) : 1
) (
  input  logic                   balance_i,
  input  logic [Cores*32-1:0]    load_i,
  input  logic [Cores-1:0]       giving_i,     // donors, and receivers, of donations in progress
  input  logic [Cores-1:0]       receiving_i,
  output logic [Cores-1:0]       donate_o,     // donors of new ones
  output logic [Cores*32-1:0]    half_o,       // by donor: of the difference
  output logic [Cores-1:0]       receive_o,    // receivers of new ones
  output logic [Cores*CoreW-1:0] donor_o       // by receiver
);

  localparam int unsigned Groups = (Cores + Group - 1) / Group;
  localparam int unsigned SumW   = 32 + $clog2(Group);
  localparam int unsigned GroupW = (Groups > 1) ? $clog2(Groups) : 1;

  function automatic logic reaches(logic [SumW-1:0] high, logic [SumW-1:0] difference);
    logic [SumW-1:0] least;
    least   = (Threshold > 0) ? SumW'(Threshold) : high >> ThresholdShift;
    reaches = difference >= SumW'(2) && difference >= least;
  endfunction

  function automatic logic [31:0] half_of(logic [SumW-1:0] difference);
    half_of = 32'(difference >> 1);
    if ((difference >> 33) != '0) half_of = '1;
  endfunction

  // Each group's extremes and sum.

  logic [Groups*CoreW-1:0] most, least;
  logic [Groups*SumW-1:0]  sum;

  for (genvar g = 0; g < Groups; g++) begin : gen_groups
    localparam int unsigned First = g * Group;
    localparam int unsigned Num   = (First + Group > Cores) ? Cores - First : Group;
    localparam int unsigned PlaceW = (Num > 1) ? $clog2(Num) : 1;

    logic              unused_valid;
    logic [PlaceW-1:0] most_place, least_place;
    logic [31:0]       unused_high, unused_low;

    ctrlproc_extremes #(
      .Num  (Num),
      .Width(32)
    ) u_extremes (
      .valid_i({Num{1'b1}}),
      .load_i (load_i[First*32 +: Num*32]),
      .valid_o(unused_valid),
      .most_o (most_place),
      .least_o(least_place),
      .high_o (unused_high),
      .low_o  (unused_low)
    );

    assign most[g*CoreW +: CoreW]  = CoreW'(First + 32'(most_place));
    assign least[g*CoreW +: CoreW] = CoreW'(First + 32'(least_place));

    always_comb begin
      sum[g*SumW +: SumW] = '0;
      for (int unsigned i = 0; i < Num; i++) begin
        sum[g*SumW +: SumW] = sum[g*SumW +: SumW] + SumW'(load_i[(First+i)*32 +: 32]);
      end
    end
  end

  // Between groups.

  logic              unused_some, offer;
  logic [GroupW-1:0] most_group, least_group;
  logic [SumW-1:0]   high, low;
  logic [CoreW-1:0]  from, to;
  logic [Cores-1:0]  gives, receives;  // by core
  logic              busy;

  ctrlproc_extremes #(
    .Num  (Groups),
    .Width(SumW)
  ) u_extremes (
    .valid_i({Groups{1'b1}}),
    .load_i (sum),
    .valid_o(unused_some),
    .most_o (most_group),
    .least_o(least_group),
    .high_o (high),
    .low_o  (low)
  );

  ctrlproc_select #(
    .Num  (Groups),
    .Width(CoreW)
  ) u_from (
    .index_i(most_group),
    .data_i (most),
    .data_o (from)
  );

  ctrlproc_select #(
    .Num  (Groups),
    .Width(CoreW)
  ) u_to (
    .index_i(least_group),
    .data_i (least),
    .data_o (to)
  );

  always_comb begin
    busy = 1'b0;
    for (int unsigned i = 0; i < Cores; i++) begin
      busy = busy || (from == CoreW'(i) && giving_i[i]) || (to == CoreW'(i) && receiving_i[i]);
    end
  end

  assign offer = balance_i && !busy && reaches(high, high - low);

  always_comb begin
    for (int unsigned i = 0; i < Cores; i++) begin
      gives[i]    = offer && from == CoreW'(i);
      receives[i] = offer && to == CoreW'(i);
    end
  end

  // Within each group.

  for (genvar g = 0; g < Groups; g++) begin : gen_within
    localparam int unsigned First = g * Group;
    localparam int unsigned Num   = (First + Group > Cores) ? Cores - First : Group;
    localparam int unsigned PlaceW = (Num > 1) ? $clog2(Num) : 1;

    logic              some, offers;
    logic [PlaceW-1:0] most_place, least_place;
    logic [31:0]       most_load, least_load, gap;
    logic [Num-1:0]    donor, receiver;

    if (Group > 1) begin : gen_extremes
      logic [Num-1:0] takes_part;

      assign takes_part = ~(giving_i[First +: Num] | receiving_i[First +: Num] | gives[First +: Num] |
                            receives[First +: Num]);

      ctrlproc_extremes #(
        .Num  (Num),
        .Width(32)
      ) u_extremes (
        .valid_i(takes_part),
        .load_i (load_i[First*32 +: Num*32]),
        .valid_o(some),
        .most_o (most_place),
        .least_o(least_place),
        .high_o (most_load),
        .low_o  (least_load)
      );
    end else begin : gen_none
      assign some        = 1'b0;
      assign most_place  = '0;
      assign least_place = '0;
      assign most_load   = '0;
      assign least_load  = '0;
    end

    assign gap    = most_load - least_load;
    assign offers = balance_i && some && reaches(SumW'(most_load), SumW'(gap));

    always_comb begin
      for (int unsigned i = 0; i < Num; i++) begin
        donor[i]    = offers && most_place == PlaceW'(i);
        receiver[i] = offers && least_place == PlaceW'(i);
        half_o[(First+i)*32 +: 32]        = gives[First+i] ? half_of(high - low) : gap >> 1;
        donor_o[(First+i)*CoreW +: CoreW] = receives[First+i] ? from : CoreW'(First + 32'(most_place));
      end
    end

    assign donate_o[First +: Num]  = gives[First +: Num] | donor;
    assign receive_o[First +: Num] = receives[First +: Num] | receiver;
  end

  always_comb begin
    OneRoleAtATime:  assert ((donate_o & receive_o) == '0);
    NotTwice:        assert ((donate_o & giving_i) == '0 && (receive_o & receiving_i) == '0);
  end

endmodule
