// Types of the ports between the control processor and the cores' graph units. Names are the paper's (GraphPEG, ACM TACO
// 18(3), 2021, §3.3.2); orders and events have the numbers that they have in graphpeg_pkg, as far as they are there.

package ctrlproc_pkg;

  // Orders to a unit (R_BC).
  typedef enum logic [3:0] {
    OrdNone            = 4'd0,
    OrdRead            = 4'd1,  // of the loads: answered by EvValue
    OrdDonate          = 4'd2,  // ED: cut off up to so many edges; answered by EvDonated or EvRefused
    OrdStandby         = 4'd3,  // ERS: edges will come
    OrdRelease         = 4'd4,  // none will come
    OrdReceive         = 4'd5,  // ER: a range is in R_BW; answered by EvInserted
    OrdDone            = 4'd6,  // no unit has work left
    OrdDonateVertices  = 4'd7,  // of the output list; answered by EvDonatedVertices, perhaps of none
    OrdReceiveVertices = 4'd8   // vertices are in memory; answered by EvInsertedVertices
  } order_e;

  // Notifications by a unit (R_BS).
  typedef enum logic [2:0] {
    EvValue            = 3'd0,  // of R_EFS, and the length of the output list
    EvDrained          = 3'd1,
    EvNotDrained       = 3'd2,
    EvDonated          = 3'd3,
    EvRefused          = 3'd4,
    EvInserted         = 3'd5,
    EvDonatedVertices  = 3'd6,
    EvInsertedVertices = 3'd7
  } event_e;

  // A piece of an adjacency list: R_BW0 to R_BW2.
  typedef struct packed {
    logic [31:0] first;
    logic [31:0] last;  // behind it
    logic [31:0] base;
  } range_t;

  // Vertices in memory.
  typedef struct packed {
    logic [31:0] vertices;  // their number
    logic [31:0] addr;
  } piece_t;

  typedef struct packed {
    order_e      order;
    logic [31:0] epoch;  // number of the launch
    logic [31:0] edges;
    range_t      range;
    piece_t      piece;
  } command_t;

  typedef struct packed {
    event_e      kind;
    logic [31:0] epoch;
    logic [31:0] edges;
    range_t      range;
    piece_t      piece;
  } report_t;

  localparam int unsigned CommandW = 228;  // bits of a command_t
  localparam int unsigned ReportW  = 227;  // bits of a report_t

endpackage
