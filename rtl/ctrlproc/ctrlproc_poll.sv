// Polls: the loads of all cores are read, one core of each group a cycle, and when all have answered, work is balanced.
//
//          Interval since the last poll began          all are read
//   StIdle ------------------------------------> StRead -----------> StWait
//      ^          (the first is read at once)                          |
//      +---------------------------------------------------------------+
//                       all have answered: balance
//
// A poll that takes longer than Interval is followed by the next one at once.

module ctrlproc_poll #(
  parameter int unsigned Cores    = 4,
  parameter int unsigned Group    = 1,   // 1: one core a cycle
  parameter int unsigned Interval = 512
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             launch_i,
  input  logic             run_i,       // the launch has not ended, by the end of this cycle
  input  logic [Cores-1:0] value_i,     // cores that answer
  output logic [Cores-1:0] read_o,      // cores that are read
  output logic             balance_o,
  output logic             polling_o,
  output logic [Cores-1:0] unread_o     // cores that have not answered, after this cycle
);

  localparam int unsigned Turn  = (Group == 1) ? Cores : Group;  // cycles until each core is read
  localparam int unsigned TurnW = (Turn > 1) ? $clog2(Turn) : 1;
  localparam int unsigned WaitW = (Interval > 1) ? $clog2(Interval) : 1;

  typedef enum logic [1:0] {
    StIdle = 2'd0,
    StRead = 2'd1,
    StWait = 2'd2
  } state_e;

  state_e           state_q, state_d;
  logic [TurnW-1:0] turn_q, turn_d;
  logic [WaitW-1:0] wait_q, wait_d;  // cycles until the next poll may begin
  logic [Cores-1:0] unread_q, unread;
  logic             starts, reads;

  assign unread   = unread_q & ~value_i;
  assign unread_o = unread | read_o;
  assign starts   = run_i && state_q == StIdle && wait_q == '0;
  assign reads    = starts || (run_i && state_q == StRead);

  always_comb begin
    for (int unsigned i = 0; i < Cores; i++) read_o[i] = reads && turn_q == TurnW'(i % Turn);
  end

  always_comb begin
    state_d   = state_q;
    turn_d    = turn_q;
    wait_d    = (wait_q == '0) ? '0 : wait_q - WaitW'(1);
    balance_o = 1'b0;

    if (starts) wait_d = WaitW'(Interval - 1);
    if (reads) begin
      turn_d  = turn_q + TurnW'(1);
      state_d = StRead;
      if (turn_q == TurnW'(Turn - 1)) begin
        turn_d  = '0;
        state_d = StWait;
      end
    end
    if (run_i && state_q == StWait && unread == '0) begin
      balance_o = 1'b1;
      state_d   = StIdle;
    end
  end

  assign polling_o = state_d != StIdle;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= StIdle;
      turn_q   <= '0;
      wait_q   <= '0;
      unread_q <= '0;
    end else if (launch_i) begin
      state_q  <= StIdle;
      turn_q   <= '0;
      wait_q   <= WaitW'(Interval - 1);
      unread_q <= '0;
    end else begin
      state_q  <= state_d;
      turn_q   <= turn_d;
      wait_q   <= wait_d;
      unread_q <= unread_o;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && !launch_i) begin
      OnlyWhenRead:  assert ((value_i & ~unread_q) == '0);
      ReadOnce:      assert ((read_o & unread) == '0);
      IdleIsNotRead: assert (state_q != StIdle || unread_q == '0);
    end
  end

endmodule
