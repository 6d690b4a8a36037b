// Types of GraphPEG's ports and parts. Names are the paper's (GraphPEG, ACM TACO 18(3), 2021, §3).

package graphpeg_pkg;

  // Functions of a request: bits 1 and 0 of a get and of a pop of edges name a field of the edge.
  localparam logic [3:0] FnPop  = 4'd4;  // peg.pop: the next edge for each active lane
  localparam logic [3:0] FnPopV = 4'd8;  // peg.popv: the next vertex
  localparam logic [3:0] FnPush = 4'd9;  // peg.push: a vertex of each active lane to a list

  // Status of an entry of the adjacency list working table (§3.3.1).
  typedef enum logic [1:0] {
    StIvd = 2'd0,  // invalid: free
    StFi  = 2'd1,  // fetching index
    StRd  = 2'd2,  // ready
    StFe  = 2'd3   // fetching edge
  } status_e;

  // What of the unit has made a request to memory.
  typedef enum logic [1:0] {
    SrcOffsets = 2'd0,
    SrcEdges   = 2'd1,  // and weights
    SrcSpill   = 2'd2,
    SrcRefill  = 2'd3
  } source_e;

  // The tag of a read says where its data belongs.
  typedef struct packed {
    source_e     source;
    logic [1:0]  part;   // offsets: the first line or the second; edges: 0, their weights: from 1 on
    logic [15:0] index;  // of the entry, of the first slot, or of the list
    logic [2:0]  ticket; // of a refill
  } tag_t;

  // Orders of the control processor (R_BC).
  typedef enum logic [2:0] {
    OrdNone    = 3'd0,
    OrdRead    = 3'd1,  // of the loads
    OrdDonate  = 3'd2,  // ED: cut off up to so many edges
    OrdStandby = 3'd3,  // ERS: edges will come
    OrdRelease = 3'd4,  // none will come
    OrdReceive = 3'd5,  // ER: a range is in R_BW
    OrdDone    = 3'd6   // no unit has work left
  } order_e;

  // Notifications of the control processor (R_BS).
  typedef enum logic [2:0] {
    EvValue      = 3'd0,  // of R_EFS, and the length of the output list
    EvDrained    = 3'd1,
    EvNotDrained = 3'd2,
    EvDonated    = 3'd3,
    EvRefused    = 3'd4,
    EvInserted   = 3'd5
  } event_e;

  // A piece of an adjacency list: R_BW0 to R_BW2.
  typedef struct packed {
    logic [31:0] first;
    logic [31:0] last;  // behind it
    logic [31:0] base;
  } range_t;

  typedef struct packed {
    event_e      kind;
    logic [31:0] edges;
    logic [31:0] vertices;
    range_t      range;
  } report_t;

  // The registers that the host writes before a launch.
  typedef struct packed {
    logic        vertex_mode;  // else edges are gathered
    logic        pull;         // the base vertex is the destination
    logic [3:0]  fields;       // of an edge: source, destination, weight, number, from bit 0 on
    logic [31:0] vertices;
    logic [31:0] offsets;      // addresses
    logic [31:0] edges;
    logic [31:0] neighbours;
    logic [31:0] weights;
    logic [3:0]  in;           // list that pops take from
    logic [3:0]  out;          // list whose length is reported
    logic [31:0] regions;      // address of this core's list regions
  } setup_t;

  // What the host does to the lists between launches.
  typedef enum logic [2:0] {
    HostNone  = 3'd0,
    HostSetup = 3'd1,  // write the registers
    HostClear = 3'd2,  // empty all lists
    HostPush  = 3'd3,  // append a vertex to a list that has room for it
    HostSpill = 3'd4,  // a line of a list goes to memory, by the host's hand
    HostSwap  = 3'd5,  // exchange two lists
    HostLines = 3'd6   // so many lines of a list are in memory, from one on
  } host_e;

  // Errors, which end the run: of the program, with its request, or of the set-up.
  typedef enum logic [3:0] {
    ErrNone     = 4'd0,
    ErrMode     = 4'd1,  // a function of the other mode
    ErrField    = 4'd2,  // a field that is not gathered
    ErrPop      = 4'd3,  // pop from another list than the input's
    ErrPush     = 4'd4,  // push to a list that there is not, or to the input's
    ErrVertex   = 4'd8,  // a vertex that there is not
    ErrOffsets  = 4'd9,  // offsets that are no range of edges
    ErrOverflow = 4'd10  // a list's region is full
  } err_e;

  // State that is visible from outside, for comparison with the Go model: it drives nothing.
  typedef struct packed {
    logic [31:0] efs;       // R_EFS
    logic [15:0] reserved;  // slots
    logic [15:0] filled;
    logic [15:0] run;       // valid ones in front
    logic [15:0] fi;        // entries by status
    logic [15:0] rd;
    logic [15:0] fe;
    logic [15:0] pops;      // that wait
    logic [31:0] in_size;
    logic [31:0] out_size;
    logic        pending;
    logic        standby;
    logic        drained;
  } trace_t;

endpackage
