// Types of the Weaver's ports and parts. Names are the paper's (SparseWeaver, HPCA 2025, §III-B).

package weaver_pkg;

  // Functions of a request: the four instructions.
  typedef enum logic [1:0] {
    FnReg    = 2'd0,  // weaver.reg: register an entry for each active lane
    FnSkip   = 2'd1,  // weaver.skip: drop what is left of the current entry
    FnDecId  = 2'd2,  // weaver.dec.id: the next batch's vertices
    FnDecLoc = 2'd3   // weaver.dec.loc: the edges of the warp's last batch
  } fn_e;

  // States of the paper's FSM (Fig. 6).
  typedef enum logic [3:0] {
    StInit  = 4'd0,  // S0: no registered entry has been decoded
    StFirst = 4'd1,  // S1: the first entry is read
    StFill  = 4'd2,  // S2: the current entry's edges go to the lanes
    StFetch = 4'd3,  // S3: the next entry is requested
    StLoad  = 4'd4,  // S4: the fetched entry becomes the current one
    StEmit  = 4'd5,  // S5: the lanes are full, the warp gets its answer
    StWait  = 4'd6,  // S6: until the next decode request
    StLast  = 4'd7,  // S7: the remaining edges, or none, are the answer
    StEnd   = 4'd8   // S8: every answer is -1 in all lanes
  } state_e;

  // Errors of the program, which end it.
  typedef enum logic [1:0] {
    ErrNone     = 2'd0,
    ErrDecoding = 2'd1,  // weaver.reg while the table is being decoded
    ErrSlot     = 2'd2,  // weaver.reg at a slot that the ST does not have
    ErrTwice    = 2'd3   // weaver.reg at a slot twice in an epoch
  } err_e;

  // An entry of the ST, and the Current Entry Data.
  typedef struct packed {
    logic [31:0] vid;  // vertex
    logic [31:0] loc;  // its first edge that is not yet distributed
    logic [31:0] deg;  // edges from loc on
  } entry_t;

  localparam int unsigned EntryW = 96;

  // State that is visible from outside, for comparison with the Go model: it drives nothing.
  typedef struct packed {
    state_e      state;
    entry_t      ced;
    logic [16:0] cursor;    // next slot of the ST
    logic [31:0] filled;    // lanes of the OD that hold an edge
    logic [15:0] dt_reads;  // reads of the DT under way
    logic        st_read;   // a read of the ST starts
    logic        skip_hit;  // a skip finds its vertex being decoded
    logic        skipping;  // such a skip is pending
    logic        drop;      // what is left of the current entry is dropped
  } trace_t;

endpackage
