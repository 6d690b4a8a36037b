// The paper's state machine (Fig. 6): what the unit does in each state, and where it goes.
//
//   S0 --dec.id--> S1 --row--> S2 <--------- S4 <-- S3
//                  |           |  \                 ^
//        none valid|   OD full |   \-- entry used up, more left
//                  v           v
//                  S7 <-+      S5 --answered--> S6 --dec.id--> S2
//                  |    +-- from S2: used up, none left
//                  v
//                  S8 --reg--> S0

module weaver_fsm (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               launch_i,
  // The oldest request.
  input  logic               reg_i,      // it is a registration
  input  logic               decode_i,   // it is a weaver.dec.id
  output logic               decode_o,   // which is taken
  // The tables.
  input  logic               left_i,     // a valid slot is left
  input  logic               ready_i,    // the row of the next slot is there
  input  logic               full_i,     // the OD is full by the end of this cycle
  output logic               begin_o,    // an epoch's decoding begins
  output logic               request_o,  // read a row
  output logic               take_o,     // take a slot
  output logic               fill_o,     // fill lanes
  // The answer.
  input  logic               room_i,     // it may leave
  output logic               answer_o,   // it leaves
  output logic               head_o,     // to the oldest request, not to an earlier one
  output weaver_pkg::state_e state_o
);

  weaver_pkg::state_e state_q, state_d;

  always_comb begin
    state_d   = state_q;
    decode_o  = 1'b0;
    begin_o   = 1'b0;
    request_o = 1'b0;
    take_o    = 1'b0;
    fill_o    = 1'b0;
    answer_o  = 1'b0;
    head_o    = 1'b0;

    unique case (state_q)
      weaver_pkg::StInit: begin
        if (decode_i) begin
          decode_o = 1'b1;
          begin_o  = 1'b1;
          state_d  = weaver_pkg::StFirst;
        end
      end
      weaver_pkg::StFirst: begin
        request_o = left_i;
        take_o    = left_i;
        if (!left_i) state_d = weaver_pkg::StLast;
        else if (ready_i) state_d = weaver_pkg::StFill;
      end
      weaver_pkg::StFill: begin
        fill_o = 1'b1;
        if (full_i) state_d = weaver_pkg::StEmit;
        else if (left_i) state_d = weaver_pkg::StFetch;
        else state_d = weaver_pkg::StLast;
      end
      weaver_pkg::StFetch: begin
        request_o = 1'b1;
        state_d   = weaver_pkg::StLoad;
      end
      weaver_pkg::StLoad: begin
        take_o = 1'b1;
        if (ready_i) state_d = weaver_pkg::StFill;
      end
      weaver_pkg::StEmit: begin
        answer_o = room_i;
        if (room_i) state_d = weaver_pkg::StWait;
      end
      weaver_pkg::StWait: begin
        if (decode_i) begin
          decode_o = 1'b1;
          state_d  = weaver_pkg::StFill;
        end
      end
      weaver_pkg::StLast: begin
        answer_o = room_i;
        if (room_i) state_d = weaver_pkg::StEnd;
      end
      weaver_pkg::StEnd: begin
        head_o   = 1'b1;
        decode_o = decode_i && room_i;
        answer_o = decode_i && room_i;
        if (reg_i) state_d = weaver_pkg::StInit;
      end
      default: state_d = weaver_pkg::StInit;
    endcase

    if (launch_i) state_d = weaver_pkg::StInit;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= weaver_pkg::StInit;
    else state_q <= state_d;
  end

  assign state_o = state_q;

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      StateIsDefined:  assert (state_q <= weaver_pkg::StEnd);
      FetchesWhatIsLeft: assert (!(state_q == weaver_pkg::StFetch && !left_i));
      AnswersWithRoom: assert (!(answer_o && !room_i));
    end
  end

endmodule
