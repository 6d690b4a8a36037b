// The Dense Work ID Table (DT): a row with an edge number for each lane, by warp, and its read pipeline, which answers
// weaver.dec.loc.
//
// A read takes its data when it enters, and can leave Latency - 1 cycles later at the earliest, in order. At most Latency
// reads are inside, one for each stage of the pipeline; what could not leave yet waits in a buffer.

module weaver_dt #(
  parameter int unsigned Warps   = 32,
  parameter int unsigned Lanes   = 32,
  parameter int unsigned Latency = 6,
  parameter int unsigned TagW    = 8,
  localparam int unsigned WarpW  = (Warps > 1) ? $clog2(Warps) : 1,
  localparam int unsigned CountW = $clog2(Latency + 1)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                launch_i,  // all rows are -1, and no read is under way
  input  logic                write_i,
  input  logic [WarpW-1:0]    write_warp_i,
  input  logic [Lanes*32-1:0] write_eid_i,
  input  logic                read_i,
  input  logic [WarpW-1:0]    read_warp_i,
  input  logic [TagW-1:0]     read_tag_i,
  output logic                full_o,
  output logic                valid_o,   // a read can leave
  input  logic                pop_i,
  output logic [Lanes*32-1:0] eid_o,
  output logic [TagW-1:0]     tag_o,
  output logic [CountW-1:0]   count_o
);

  localparam int unsigned RowW = Lanes * 32;
  localparam bit          Async = Latency == 1;
  localparam int unsigned PtrW = (Latency > 1) ? $clog2(Latency) : 1;

  // The table. A row is valid once its warp has had a batch in this launch.

  logic [Warps-1:0] valid_q;
  logic [RowW-1:0]  table_row, read_row;
  logic             written;  // the row that is read is valid

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else if (launch_i) valid_q <= '0;
    else if (write_i) valid_q[write_warp_i] <= 1'b1;
  end

  weaver_ram #(
    .Width(RowW),
    .Depth(Warps),
    .Async(Async)
  ) u_table (
    .clk_i,
    .we_i   (write_i),
    .waddr_i(write_warp_i),
    .wdata_i(write_eid_i),
    .re_i   (read_i),
    .raddr_i(read_warp_i),
    .rdata_o(table_row)
  );

  // Data comes from the table in the cycle of the read or in the next.

  logic            arrives;
  logic [TagW-1:0] arrives_tag;

  if (Async) begin : gen_async
    assign written     = valid_q[read_warp_i];
    assign arrives     = read_i;
    assign arrives_tag = read_tag_i;
  end else begin : gen_sync
    logic            written_q, arrives_q;
    logic [TagW-1:0] tag_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        written_q <= 1'b0;
        arrives_q <= 1'b0;
        tag_q     <= '0;
      end else begin
        written_q <= valid_q[read_warp_i];
        arrives_q <= read_i && !launch_i;
        tag_q     <= read_tag_i;
      end
    end
    assign written     = written_q;
    assign arrives     = arrives_q;
    assign arrives_tag = tag_q;
  end

  assign read_row = written ? table_row : '1;

  // The pipeline: a delay line says when the oldest read that has not ripened can leave.

  logic [CountW-1:0] count_q, count_d;  // reads inside
  logic [CountW-1:0] ripe_q, ripe_d;    // of them, those that can leave
  logic              ripens;

  if (Latency == 1) begin : gen_no_delay
    assign ripens = read_i;
  end else begin : gen_delay
    logic [Latency-2:0] delay_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) delay_q <= '0;
      else if (launch_i) delay_q <= '0;
      else delay_q <= (Latency - 1)'({delay_q, read_i});
    end
    assign ripens = delay_q[Latency-2];
  end

  assign valid_o = ripe_q != '0 || ripens;
  assign full_o  = count_q == CountW'(Latency);
  assign count_o = count_q;

  always_comb begin
    count_d = count_q + CountW'(read_i) - CountW'(pop_i);
    ripe_d  = ripe_q + CountW'(ripens) - CountW'(pop_i);
    if (launch_i) begin
      count_d = '0;
      ripe_d  = '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      ripe_q  <= '0;
    end else begin
      count_q <= count_d;
      ripe_q  <= ripe_d;
    end
  end

  // The buffer. Up to a latency of 2 a read can leave in the cycle in which its data arrives.

  logic [PtrW-1:0]      head_q, tail_q;
  logic [RowW+TagW-1:0] buffer_out;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q <= '0;
      tail_q <= '0;
    end else if (launch_i) begin
      head_q <= '0;
      tail_q <= '0;
    end else begin
      if (arrives) tail_q <= (tail_q == PtrW'(Latency - 1)) ? '0 : tail_q + PtrW'(1);
      if (pop_i)   head_q <= (head_q == PtrW'(Latency - 1)) ? '0 : head_q + PtrW'(1);
    end
  end

  weaver_ram #(
    .Width(RowW + TagW),
    .Depth(Latency),
    .Async(1'b1)
  ) u_buffer (
    .clk_i,
    .we_i   (arrives),
    .waddr_i(tail_q),
    .wdata_i({arrives_tag, read_row}),
    .re_i   (1'b1),
    .raddr_i(head_q),
    .rdata_o(buffer_out)
  );

  if (Latency <= 2) begin : gen_bypass
    logic empty;  // the buffer holds nothing that could leave
    assign empty = ripe_q == '0;
    assign {tag_o, eid_o} = empty ? {arrives_tag, read_row} : buffer_out;
  end else begin : gen_no_bypass
    assign {tag_o, eid_o} = buffer_out;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      NoReadWhenFull: assert (!(read_i && full_o));
      NoPopWhenUnripe: assert (!(pop_i && !valid_o));
      RipeIsInside:   assert (ripe_q <= count_q);
    end
  end

endmodule
