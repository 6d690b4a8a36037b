// What a core's report says. One of an earlier launch says nothing.

module ctrlproc_report (
  input  logic                  valid_i,
  input  ctrlproc_pkg::report_t report_i,
  input  logic [31:0]           epoch_i,
  output logic                  value_o,
  output logic                  drained_o,
  output logic                  not_drained_o,
  output logic                  donated_o,
  output logic                  refused_o,
  output logic                  inserted_o,
  output logic                  gave_o,       // vertices
  output logic                  gave_none_o,
  output logic                  got_o,        // vertices
  output logic [31:0]           edges_o,
  output logic [31:0]           vertices_o,
  output ctrlproc_pkg::range_t  range_o,
  output ctrlproc_pkg::piece_t  piece_o
);

  logic heard;

  assign heard = valid_i && report_i.epoch == epoch_i;

  assign value_o       = heard && report_i.kind == ctrlproc_pkg::EvValue;
  assign drained_o     = heard && report_i.kind == ctrlproc_pkg::EvDrained;
  assign not_drained_o = heard && report_i.kind == ctrlproc_pkg::EvNotDrained;
  assign donated_o     = heard && report_i.kind == ctrlproc_pkg::EvDonated;
  assign refused_o     = heard && report_i.kind == ctrlproc_pkg::EvRefused;
  assign inserted_o    = heard && report_i.kind == ctrlproc_pkg::EvInserted;
  assign gave_o        = heard && report_i.kind == ctrlproc_pkg::EvDonatedVertices && report_i.piece.vertices != '0;
  assign gave_none_o   = heard && report_i.kind == ctrlproc_pkg::EvDonatedVertices && report_i.piece.vertices == '0;
  assign got_o         = heard && report_i.kind == ctrlproc_pkg::EvInsertedVertices;

  assign edges_o    = report_i.edges;
  assign vertices_o = report_i.piece.vertices;
  assign range_o    = report_i.range;
  assign piece_o    = report_i.piece;

endmodule
