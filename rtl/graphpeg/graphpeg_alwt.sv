// The adjacency list working table (ALWT, §3.3.1): an entry for each vertex whose edges are fetched.
//
//   IVD -> FI (its offsets are requested) -> RD (they have come) -> FE (its edges are requested, one entry at a time) -> IVD
//
// In a cycle, an answer of memory comes first, then edges are cut off for another core, then the FE entry requests a line,
// then the oldest RD entry becomes the FE entry if there is none, then entries are taken: for a vertex of the list, and
// for a range from another core.

module graphpeg_alwt #(
  parameter int unsigned Entries         = 24,
  parameter bit          ReleaseAtReturn = 1'b0,  // an FE entry is free with its last answer, not its last request
  parameter bit          DonationFirst   = 1'b0,  // a range from another core takes an entry before a vertex does
  localparam int unsigned IndexW = (Entries > 1) ? $clog2(Entries) : 1,
  localparam int unsigned CountW = $clog2(Entries + 1)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 clear_i,
  // A line of offsets comes: the word of the first, of the second offset, or both.
  input  logic                 offsets_i,
  input  logic [IndexW-1:0]    offsets_entry_i,
  input  logic                 start_valid_i,
  input  logic [31:0]          start_i,
  input  logic                 end_valid_i,
  input  logic [31:0]          end_i,
  output logic [31:0]          offsets_base_o,  // the entry's vertex
  output logic                 wrong_o,         // they are no range of edges
  input  logic [31:0]          edges_i,         // that there are
  // The data of a request of edges comes.
  input  logic                 returned_i,
  // Edges are cut off, from the start of the entry with most.
  input  logic                 cut_i,
  input  logic [31:0]          cut_most_i,
  output logic                 cut_valid_o,
  output graphpeg_pkg::range_t cut_o,
  // The FE entry requests edges.
  output logic                 idle_o,          // all entries are free
  output logic                 fe_valid_o,
  output graphpeg_pkg::range_t fe_o,            // what it has not requested
  input  logic [31:0]          fetch_i,         // so many; 0: none
  input  logic                 promote_i,       // edges are gathered
  // An entry for a vertex of the list: it may be taken if fi_ready_o.
  output logic                 fi_ready_o,
  output logic [IndexW-1:0]    fi_entry_o,
  input  logic                 fi_i,
  input  logic [31:0]          fi_base_i,
  input  logic                 fi_two_i,        // its offsets are in two lines
  // An entry for a range.
  output logic                 insert_ready_o,
  input  logic                 insert_i,
  input  graphpeg_pkg::range_t insert_range_i,
  // For R_EFS and for the end of a launch.
  output logic [31:0]          left_o,          // edges not requested, before any are cut off
  output logic                 empty_o,         // all entries are free after this cycle
  output logic [31:0]          edges_o,
  output logic [15:0]          count_fi_o,
  output logic [15:0]          count_rd_o,
  output logic [15:0]          count_fe_o
);

  localparam int unsigned StackW = Entries * IndexW;

  // Entries. In FI, the second bit of wait says that two lines have not come, the first that one has not.
  logic [Entries*32-1:0] base_q, base_d, start_q, start_a, start_c, start_d, end_q, end_a, end_d;
  logic [Entries*2-1:0]  status_q, status_a, status_c, status_d;
  logic [Entries-1:0]    two_q, two_a, two_d;
  // Free entries, the last to become free on top. Ready ones, the oldest first.
  logic [StackW-1:0]     free_q, free_a, free_c, free_e, free_d, ready_q, ready_a, ready_c, ready_p, ready_d;
  logic [CountW-1:0]     frees_q, frees_a, frees_c, frees_e, frees_d, readies_q, readies_a, readies_c, readies_p, readies_d;
  logic                  fe_vld_q, fe_vld_a, fe_vld_c, fe_vld_e, fe_vld_d;
  logic [IndexW-1:0]     fe_q, fe_d;
  logic [31:0]           left_q, left_c, left_d;
  logic [15:0]           under_way_q, under_way_a, under_way_d;  // requests of the FE entry

  // An entry's word, or its place in a list. All are selected by a bit for each entry: part-selects at a variable place,
  // which are shifts of the whole table, would make this module ten times as large.
  function automatic logic [31:0] word(logic [Entries*32-1:0] words, logic [Entries-1:0] at);
    word = '0;
    for (int unsigned i = 0; i < Entries; i++) word = word | (words[i*32 +: 32] & {32{at[i]}});
  endfunction

  function automatic logic [IndexW-1:0] member(logic [StackW-1:0] list, logic [CountW-1:0] at);
    member = '0;
    for (int unsigned i = 0; i < Entries; i++) begin
      member = member | (list[i*IndexW +: IndexW] & {IndexW{at == CountW'(i)}});
    end
  endfunction

  function automatic logic [Entries-1:0] only(logic [IndexW-1:0] entry);
    for (int unsigned i = 0; i < Entries; i++) only[i] = entry == IndexW'(i);
  endfunction

  function automatic logic [StackW-1:0] put(logic [StackW-1:0] list, logic [CountW-1:0] at, logic [IndexW-1:0] entry);
    put = list;
    for (int unsigned i = 0; i < Entries; i++) if (at == CountW'(i)) put[i*IndexW +: IndexW] = entry;
  endfunction

  function automatic logic [Entries*32-1:0] put_word(logic [Entries*32-1:0] words, logic [Entries-1:0] at, logic [31:0] w);
    put_word = words;
    for (int unsigned i = 0; i < Entries; i++) if (at[i]) put_word[i*32 +: 32] = w;
  endfunction

  function automatic logic [Entries*2-1:0] put_status(logic [Entries*2-1:0] list, logic [Entries-1:0] at,
                                                      graphpeg_pkg::status_e status);
    put_status = list;
    for (int unsigned i = 0; i < Entries; i++) if (at[i]) put_status[i*2 +: 2] = status;
  endfunction

  // An answer comes.

  logic [31:0] first, last;
  logic        fills, ends_a;
  logic [Entries-1:0] come_at, fe_at;

  assign come_at = only(offsets_entry_i);
  assign fe_at   = only(fe_q);
  assign offsets_base_o = word(base_q, come_at);
  assign first   = start_valid_i ? start_i : word(start_q, come_at);
  assign last    = end_valid_i ? end_i : word(end_q, come_at);
  assign fills   = offsets_i && (two_q & come_at) == '0;
  assign wrong_o = fills && (first > last || last > edges_i);
  assign under_way_a = under_way_q - 16'(returned_i);
  assign ends_a  = ReleaseAtReturn && returned_i && fe_vld_q && under_way_a == '0 &&
                   word(start_q, fe_at) == word(end_q, fe_at);

  always_comb begin
    start_a   = start_q;
    end_a     = end_q;
    status_a  = status_q;
    two_a     = two_q;
    free_a    = free_q;
    frees_a   = frees_q;
    ready_a   = ready_q;
    readies_a = readies_q;
    fe_vld_a  = fe_vld_q;
    if (offsets_i) begin
      start_a = put_word(start_q, come_at, first);
      end_a   = put_word(end_q, come_at, last);
      two_a   = two_q & ~come_at;
    end
    if (fills && first != last) begin
      status_a  = put_status(status_q, come_at, graphpeg_pkg::StRd);
      ready_a   = put(ready_q, readies_q, offsets_entry_i);
      readies_a = readies_q + CountW'(1);
    end
    if (fills && first == last) begin
      status_a = put_status(status_q, come_at, graphpeg_pkg::StIvd);
      free_a   = put(free_q, frees_q, offsets_entry_i);
      frees_a  = frees_q + CountW'(1);
    end
    if (ends_a) begin
      status_a = put_status(status_q, fe_at, graphpeg_pkg::StIvd);
      free_a   = put(free_q, frees_q, fe_q);
      frees_a  = frees_q + CountW'(1);
      fe_vld_a = 1'b0;
    end
  end

  assign left_o = left_q + (fills ? last - first : '0);

  // Edges are cut off.

  logic [IndexW-1:0] largest;
  logic [31:0]       most, cut, cut_first, cut_last;
  logic              cuts, uses_up, frees_rd, frees_fe;
  logic [Entries-1:0] largest_at, is_rd;

  always_comb begin : find_largest
    logic [31:0] edges;
    largest = '0;
    most    = '0;
    for (int unsigned i = 0; i < Entries; i++) begin
      edges = end_a[i*32 +: 32] - start_a[i*32 +: 32];
      if (status_a[i*2+1] && edges > most) begin  // RD or FE
        largest = IndexW'(i);
        most    = edges;
      end
    end
  end

  always_comb begin
    for (int unsigned i = 0; i < Entries; i++) is_rd[i] = status_a[i*2 +: 2] == graphpeg_pkg::StRd;
  end

  assign largest_at  = only(largest);

  assign cut_valid_o = most != '0;
  assign cuts        = cut_i && cut_valid_o;
  assign cut         = (cut_most_i < most) ? cut_most_i : most;
  assign uses_up     = cuts && cut == most;
  assign frees_rd    = uses_up && (is_rd & largest_at) != '0;
  assign frees_fe    = uses_up && !frees_rd && (!ReleaseAtReturn || under_way_a == '0);
  assign cut_first   = word(start_a, largest_at);
  assign cut_last    = cut_first + cut;
  assign cut_o       = {cut_first, cut_last, word(base_q, largest_at)};
  assign left_c      = left_o - (cuts ? cut : '0);

  logic [StackW-1:0] moved_up;

  assign moved_up = ready_a >> IndexW;

  always_comb begin : cut_off
    logic found;
    found     = 1'b0;
    start_c   = start_a;
    status_c  = status_a;
    free_c    = free_a;
    frees_c   = frees_a;
    ready_c   = ready_a;
    readies_c = readies_a;
    fe_vld_c  = fe_vld_a;
    if (cuts) start_c = put_word(start_a, largest_at, cut_last);
    if (frees_rd || frees_fe) begin
      status_c = put_status(status_a, largest_at, graphpeg_pkg::StIvd);
      free_c   = put(free_a, frees_a, largest);
      frees_c  = frees_a + CountW'(1);
    end
    if (frees_fe) fe_vld_c = 1'b0;
    if (frees_rd) begin  // those behind it move up
      for (int unsigned i = 0; i < Entries; i++) begin
        if (ready_a[i*IndexW +: IndexW] == largest && i < 32'(readies_a)) found = 1'b1;
        if (found) ready_c[i*IndexW +: IndexW] = moved_up[i*IndexW +: IndexW];
      end
      readies_c = readies_a - CountW'(1);
    end
  end

  // The FE entry requests a line.

  logic        ends_e;
  logic [31:0] fe_first, fe_last;

  assign idle_o      = frees_c == CountW'(Entries);
  assign fe_valid_o  = fe_vld_c;
  assign fe_first    = word(start_c, fe_at);
  assign fe_last     = word(end_a, fe_at);
  assign fe_o        = {fe_first, fe_last, word(base_q, fe_at)};
  assign ends_e      = fetch_i != '0 && fe_first + fetch_i == fe_last && !ReleaseAtReturn;
  assign under_way_d = under_way_a + 16'(fetch_i != '0);
  assign fe_vld_e    = fe_vld_c && !ends_e;

  assign free_e      = ends_e ? put(free_c, frees_c, fe_q) : free_c;
  assign frees_e     = frees_c + CountW'(ends_e);

  // The oldest RD entry becomes the FE entry.

  logic promotes;

  assign promotes  = promote_i && !fe_vld_e && readies_c != '0;
  assign ready_p   = promotes ? ready_c >> IndexW : ready_c;
  assign readies_p = readies_c - CountW'(promotes);
  assign fe_vld_d  = fe_vld_e || promotes;
  assign fe_d      = promotes ? ready_c[IndexW-1:0] : fe_q;

  // Entries are taken, from the top of the free ones.

  logic [CountW-1:0] before_fi, before_insert;  // entries that the other takes first
  logic [CountW-1:0] fi_at, insert_at;          // their places among the free ones
  logic [IndexW-1:0] insert_entry;
  logic [Entries-1:0] fi_at_entry, insert_at_entry;

  assign fi_at_entry     = only(fi_entry_o);
  assign insert_at_entry = only(insert_entry);
  assign before_fi      = CountW'(DonationFirst && insert_i);
  assign before_insert  = CountW'(!DonationFirst && fi_i);
  assign fi_ready_o     = frees_e > before_fi;
  assign insert_ready_o = frees_e > before_insert;
  assign fi_at          = frees_e - before_fi - CountW'(1);
  assign insert_at      = frees_e - before_insert - CountW'(1);
  assign fi_entry_o     = member(free_e, fi_at);
  assign insert_entry   = member(free_e, insert_at);
  assign frees_d        = frees_e - CountW'(fi_i) - CountW'(insert_i);
  assign free_d         = free_e;
  assign left_d         = left_c - fetch_i + (insert_i ? insert_range_i.last - insert_range_i.first : '0);

  always_comb begin
    base_d    = base_q;
    start_d   = start_c;
    end_d     = end_a;
    status_d  = status_c;
    two_d     = two_a;
    ready_d   = ready_p;
    readies_d = readies_p;
    if (fetch_i != '0) start_d = put_word(start_c, fe_at, fe_first + fetch_i);
    if (ends_e) status_d = put_status(status_d, fe_at, graphpeg_pkg::StIvd);
    if (promotes) status_d = put_status(status_d, only(fe_d), graphpeg_pkg::StFe);
    if (fi_i) begin
      base_d   = put_word(base_q, fi_at_entry, fi_base_i);
      status_d = put_status(status_d, fi_at_entry, graphpeg_pkg::StFi);
      two_d    = fi_two_i ? two_a | fi_at_entry : two_a & ~fi_at_entry;
    end
    if (insert_i) begin
      base_d    = put_word(base_d, insert_at_entry, insert_range_i.base);
      start_d   = put_word(start_d, insert_at_entry, insert_range_i.first);
      end_d     = put_word(end_a, insert_at_entry, insert_range_i.last);
      status_d  = put_status(status_d, insert_at_entry, graphpeg_pkg::StRd);
      ready_d   = put(ready_p, readies_p, insert_entry);
      readies_d = readies_p + CountW'(1);
    end
  end

  assign empty_o    = frees_d == CountW'(Entries);
  assign edges_o    = left_d;
  assign count_rd_o = 16'(readies_d);
  assign count_fe_o = 16'(fe_vld_d);
  assign count_fi_o = 16'(Entries) - 16'(frees_d) - count_rd_o - count_fe_o;

  logic [StackW-1:0] all;  // the first entry is on top

  always_comb begin
    for (int unsigned i = 0; i < Entries; i++) all[i*IndexW +: IndexW] = IndexW'(Entries - 1 - i);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      status_q    <= '0;
      two_q       <= '0;
      free_q      <= '0;
      frees_q     <= '0;
      ready_q     <= '0;
      readies_q   <= '0;
      fe_vld_q    <= 1'b0;
      fe_q        <= '0;
      left_q      <= '0;
      under_way_q <= '0;
    end else if (clear_i) begin
      status_q    <= '0;
      two_q       <= '0;
      free_q      <= all;
      frees_q     <= CountW'(Entries);
      ready_q     <= '0;
      readies_q   <= '0;
      fe_vld_q    <= 1'b0;
      fe_q        <= '0;
      left_q      <= '0;
      under_way_q <= '0;
    end else begin
      status_q    <= status_d;
      two_q       <= two_d;
      free_q      <= free_d;
      frees_q     <= frees_d;
      ready_q     <= ready_d;
      readies_q   <= readies_d;
      fe_vld_q    <= fe_vld_d;
      fe_q        <= fe_d;
      left_q      <= left_d;
      under_way_q <= promotes ? '0 : under_way_d;
    end
  end

  always_ff @(posedge clk_i) begin
    base_q  <= base_d;
    start_q <= start_d;
    end_q   <= end_d;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && !clear_i) begin
      EntriesAreThere: assert (32'(fi_i) + 32'(insert_i) <= 32'(frees_e));
      FetchesWhatIsLeft: assert (fetch_i <= fe_last - fe_first);
      OffsetsAwaited: assert (!offsets_i || status_q[32'(offsets_entry_i)*2 +: 2] == graphpeg_pkg::StFi);
      ReadyAreFewer:  assert (32'(readies_q) + 32'(frees_q) + 32'(fe_vld_q) <= Entries);
    end
  end

endmodule
