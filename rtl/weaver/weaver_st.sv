// The Sparse Workload Information Table (ST): entries by slot, warp x Lanes + lane, so that the order of decoding is
// that of the software's threads, whatever order the warps registered in.
//
// A read returns a row of Row slots, Latency cycles after the request. With Prefetch the next row is read while entries
// of one are taken, and that one is kept in a buffer. A prefetch saves nothing when the latency is 1 or 2, since S3
// requests a row a cycle before S4 takes it: then there is none, nor a buffer.
//
// Storage is banked by lane: max(Lanes, Row) banks, an entry wide, with one write and one read port each.

module weaver_st #(
  parameter int unsigned Entries   = 512,
  parameter int unsigned Row       = 32,
  parameter int unsigned Warps     = 32,
  parameter int unsigned Lanes     = 32,
  parameter int unsigned Latency   = 6,
  parameter bit          Prefetch  = 1'b1,
  parameter bit          SkipEmpty = 1'b1,
  localparam int unsigned WarpW   = (Warps > 1) ? $clog2(Warps) : 1,
  localparam int unsigned Rows    = (Entries + Row - 1) / Row,
  localparam int unsigned CursorW = $clog2(Rows * Row + 1)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                launch_i,   // forget everything
  // Registration.
  input  logic                reg_i,
  input  logic                epoch_i,    // reg_i is the first of an epoch: forget the one before
  input  logic [WarpW-1:0]    warp_i,
  input  logic [Lanes-1:0]    mask_i,
  input  logic [Lanes*32-1:0] vid_i,
  input  logic [Lanes*32-1:0] loc_i,
  input  logic [Lanes*32-1:0] deg_i,
  output logic                err_slot_o,
  output logic                err_twice_o,
  // Decoding.
  input  logic                begin_i,    // no row has been read
  input  logic                request_i,  // read the next slot's row
  input  logic                take_i,     // take the next slot, if its row is ready_o
  output logic                left_o,     // a valid slot is left
  output logic                ready_o,
  output logic                load_o,     // what was taken is entry_o; else an empty slot, or the rest of a row
  output weaver_pkg::entry_t  entry_o,
  output logic [CursorW-1:0]  cursor_o,
  output logic                read_o      // a read of a row starts
);

  localparam bit          Ahead  = Prefetch && Latency > 2;
  localparam bit          Async  = Latency == 1;
  localparam int unsigned Banks  = (Lanes > Row) ? Lanes : Row;
  localparam int unsigned Depth  = (Entries + Banks - 1) / Banks;
  localparam int unsigned AddrW  = (Depth > 1) ? $clog2(Depth) : 1;
  localparam int unsigned RowW   = $clog2(Rows + 1);
  localparam int unsigned EntryW = weaver_pkg::EntryW;
  localparam int unsigned WaitW  = (Latency > 2) ? $clog2(Latency - 1) : 1;

  // Valid bits, and the errors of a registration.

  logic [Rows*Row-1:0] valid_q, valid_d;
  logic [Rows*Row-1:0] hit;  // slots that are being registered
  logic                write;

  always_comb begin
    hit        = '0;
    err_slot_o = 1'b0;
    for (int unsigned w = 0; w < Warps; w++) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (WarpW'(w) == warp_i && mask_i[l]) begin
          if (w * Lanes + l < Entries) hit[w*Lanes+l] = 1'b1;
          else err_slot_o = 1'b1;
        end
      end
    end
  end

  assign err_twice_o = !epoch_i && (hit & valid_q) != '0;
  assign write       = reg_i && !err_slot_o && !err_twice_o;

  always_comb begin
    valid_d = valid_q;
    if (reg_i && epoch_i) valid_d = '0;
    if (write) valid_d = valid_d | hit;
    if (launch_i) valid_d = '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= valid_d;
  end

  // What is left: valid slots at or above the cursor, by row.

  logic [CursorW-1:0] cursor_q, cursor_d;
  logic [RowW-1:0]    at_row;                // of the cursor
  logic [Row-1:0]     above;                 // slots of its row that are not below it
  logic [Rows-1:0]    row_left;              // rows with such slots
  logic [RowW-1:0]    first_row;             // the first of them
  logic [RowW-1:0]    row_q, row_d, cur_row; // the row that is being taken from
  logic               row_vld_q, row_vld_d;
  logic               more;                  // a valid slot is left behind it
  logic [RowW-1:0]    more_row;              // and the first row that has one

  assign at_row = RowW'(cursor_q / CursorW'(Row));
  assign above  = {Row{1'b1}} << (cursor_q % CursorW'(Row));

  always_comb begin
    for (int unsigned r = 0; r < Rows; r++) begin
      row_left[r] = 1'b0;
      if (RowW'(r) == at_row) row_left[r] = (valid_q[r*Row +: Row] & above) != '0;
      if (RowW'(r) > at_row)  row_left[r] = valid_q[r*Row +: Row] != '0;
    end
    first_row = '0;
    more      = 1'b0;
    more_row  = '0;
    for (int unsigned r = Rows; r > 0; r--) begin
      if (row_left[r-1]) begin
        first_row = RowW'(r - 1);
        if (RowW'(r - 1) > cur_row) begin
          more     = 1'b1;
          more_row = RowW'(r - 1);
        end
      end
    end
    if (!SkipEmpty) begin
      first_row = at_row;
      more_row  = cur_row + RowW'(1);
    end
  end

  assign left_o   = row_left != '0;
  assign cursor_o = cursor_q;

  // Reads. There is one in flight at most: the one of the prefetched row, if there is that row, else of the current.

  logic [WaitW-1:0] wait_q, wait_d;          // cycles until it can be taken from
  logic             ahead_vld_q, ahead_vld_d;
  logic [RowW-1:0]  ahead_q, ahead_d;
  logic             promote, read_first, read_ahead, read;
  logic [RowW-1:0]  read_row;

  assign promote    = Ahead && request_i && ahead_vld_q && ahead_q == first_row;
  assign read_first = request_i && !promote && !(row_vld_q && row_q == first_row);
  assign read_ahead = Ahead && take_i && ready_o && !ahead_vld_q && more;
  assign read       = read_first || read_ahead;
  assign read_o     = read;
  assign read_row   = read_ahead ? more_row : first_row;

  assign row_d   = (promote || read_first) ? first_row : row_q;
  assign cur_row = Async ? row_d : row_q;
  assign ready_o = Async || (row_vld_q && !read_first && (ahead_vld_q || wait_q == '0));

  always_comb begin
    row_vld_d   = row_vld_q || read_first;
    ahead_vld_d = (ahead_vld_q && !promote) || read_ahead;
    ahead_d     = read_ahead ? more_row : ahead_q;
    wait_d      = (wait_q == '0) ? '0 : wait_q - WaitW'(1);
    if (read && Latency > 2) wait_d = WaitW'(Latency - 2);
    if (begin_i || launch_i) begin
      row_vld_d   = 1'b0;
      ahead_vld_d = 1'b0;
      wait_d      = '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      row_q       <= '0;
      row_vld_q   <= 1'b0;
      ahead_q     <= '0;
      ahead_vld_q <= 1'b0;
      wait_q      <= '0;
    end else begin
      row_q       <= row_d;
      row_vld_q   <= row_vld_d;
      ahead_q     <= ahead_d;
      ahead_vld_q <= ahead_vld_d;
      wait_q      <= wait_d;
    end
  end

  // Storage. Either a warp's lanes or a row fill all banks; the other is an aligned group of them.

  logic [Banks*EntryW-1:0] bank_data;
  logic [Row*EntryW-1:0]   ram_row;
  logic [AddrW-1:0]        waddr, raddr;
  logic [RowW-1:0]         out_row;  // the row at the banks' outputs

  assign waddr = AddrW'(32'(warp_i) / (Banks / Lanes));
  assign raddr = AddrW'((Async ? 32'(row_d) : 32'(read_row)) / (Banks / Row));

  for (genvar b = 0; b < Banks; b++) begin : gen_banks
    localparam int unsigned Lane  = b % Lanes;
    localparam int unsigned Group = b / Lanes;  // of the warps that share a line of the banks

    logic we;
    assign we = write && mask_i[Lane] && 32'(warp_i) % (Banks / Lanes) == Group;

    weaver_ram #(
      .Width(EntryW),
      .Depth(Depth),
      .Async(Async)
    ) u_ram (
      .clk_i,
      .we_i   (we),
      .waddr_i(waddr),
      .wdata_i({vid_i[Lane*32 +: 32], loc_i[Lane*32 +: 32], deg_i[Lane*32 +: 32]}),
      .re_i   (read),
      .raddr_i(raddr),
      .rdata_o(bank_data[b*EntryW +: EntryW])
    );
  end

  if (Async) begin : gen_out_async
    assign out_row = row_d;
  end else begin : gen_out_sync
    logic [RowW-1:0] out_row_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) out_row_q <= '0;
      else if (read) out_row_q <= read_row;
    end
    assign out_row = out_row_q;
  end

  always_comb begin
    ram_row = '0;
    for (int unsigned g = 0; g < Banks / Row; g++) begin
      if (32'(out_row) % (Banks / Row) == g) ram_row = bank_data[g*Row*EntryW +: Row*EntryW];
    end
  end

  // With Ahead, slots keep the current row once the banks' outputs are the prefetched one's.

  logic kept_vld;

  if (Ahead) begin : gen_ahead
    logic kept_vld_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) kept_vld_q <= 1'b0;
      else if (read_ahead) kept_vld_q <= 1'b1;
      else if (promote || begin_i || launch_i) kept_vld_q <= 1'b0;
    end
    assign kept_vld = kept_vld_q;
  end else begin : gen_no_ahead
    assign kept_vld = 1'b0;
  end

  // Taking an entry: the slot at the cursor or, with SkipEmpty, the row's next slot with an edge.

  logic [Row-1:0]        row_valid, some, candidate, first;
  logic [Row*EntryW-1:0] entries;
  logic [CursorW-1:0]    pick, row_end;

  always_comb begin
    row_valid = '0;
    for (int unsigned r = 0; r < Rows; r++) begin
      if (RowW'(r) == cur_row) row_valid = valid_q[r*Row +: Row];
    end
    if (cur_row == at_row) row_valid = row_valid & above;
    for (int unsigned i = 0; i < Row; i++) begin
      if (SkipEmpty) candidate[i] = row_valid[i] && some[i];
      else candidate[i] = row_valid[i] && CursorW'(i) == cursor_q % CursorW'(Row);
    end
  end

  for (genvar i = 0; i < Row; i++) begin : gen_slots
    weaver_slot #(
      .Ahead(Ahead)
    ) u_slot (
      .clk_i,
      .ram_i     (ram_row[i*EntryW +: EntryW]),
      .keep_i    (read_ahead),
      .kept_vld_i(kept_vld),
      .pick_i    (first[i]),
      .some_o    (some[i]),
      .entry_o   (entries[i*EntryW +: EntryW])
    );
  end

  // One bit for the first candidate: its entry is the OR of all, without a chain of multiplexers.
  assign first  = candidate & (~candidate + Row'(1));
  assign load_o = candidate != '0;

  always_comb begin
    pick    = '0;
    entry_o = '0;
    for (int unsigned i = 0; i < Row; i++) begin
      pick    = pick | (CursorW'(i) & {CursorW{first[i]}});
      entry_o = entry_o | entries[i*EntryW +: EntryW];
    end
  end

  assign row_end = (CursorW'(cur_row) + CursorW'(1)) * CursorW'(Row);

  always_comb begin
    cursor_d = cursor_q;
    if (take_i && ready_o) begin
      if (load_o) cursor_d = CursorW'(cur_row) * CursorW'(Row) + pick + CursorW'(1);
      else if (SkipEmpty) cursor_d = row_end;
      else cursor_d = cursor_q + CursorW'(1);
    end
    if (launch_i || (reg_i && epoch_i)) cursor_d = '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cursor_q <= '0;
    else cursor_q <= cursor_d;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      OneReadInFlight:      assert (!(read && wait_q != '0));
      RequestHasSomething:  assert (!(request_i && !left_o));
      TakeIsOfTheRow:       assert (!(take_i && ready_o && (cursor_q > row_end || (!SkipEmpty && at_row != cur_row))));
      NoRegistrationBeside: assert (!(write && (request_i || take_i)));
      AheadIsBehindTheRow:  assert (!(ahead_vld_q && row_vld_q && ahead_q <= row_q));
    end
  end

endmodule
