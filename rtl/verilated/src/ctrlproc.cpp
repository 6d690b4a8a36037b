// Plays a control processor for ../ctrlproc.go: a record in from standard input, cycles of it, and for one that is no
// launch a record out. It ends when its standard input does, so also when heddle is killed.
//
// In: flags (1 launch); idle cycles that come before. If it is no launch, then a word for each core (1 it takes a command,
// 2 it reports), and the reports, of 8 words. Out: done_o and, from bit 1 on, the number of commands; a word for each core
// (1 there is a command); the commands, of 8 words.
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <unistd.h>

#include "Vharness.h"
#include "verilated.h"

double sc_time_stamp() { return 0; }

namespace {

constexpr uint32_t kCores = CORES, kMessage = 8;

int answers;  // the original standard output: messages of Verilator's go to the standard error

// receive reads n words; false at the end of the input.
bool receive(void *to, size_t n) {
  auto *p = static_cast<char *>(to);
  for (size_t left = 4 * n; left > 0;) {
    const ssize_t got = read(0, p, left);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    p += got;
    left -= got;
  }
  return true;
}

bool send(const uint32_t *from, size_t n) {
  auto *p = reinterpret_cast<const char *>(from);
  for (size_t left = 4 * n; left > 0;) {
    const ssize_t sent = write(answers, p, left);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    p += sent;
    left -= sent;
  }
  return true;
}

void edge(Vharness &top) {
  top.clk_i = 1;
  top.eval();
  top.clk_i = 0;
}

// words returns the words of a port.
template <typename Port>
uint32_t *words(Port &port) {
  return reinterpret_cast<uint32_t *>(&port);
}

bool play(Vharness &top, const uint32_t *in) {
  uint32_t cores[kCores], out[1 + kCores * (1 + kMessage)];
  const bool launch = in[0] & 1;
  memset(words(top.said_i), 0, 4 * kCores);
  memset(words(top.ready_i), 0, 4 * kCores);
  top.launch_i = launch;
  if (launch) {
    top.eval();
    edge(top);
    top.launch_i = 0;
    return true;
  }
  for (uint32_t i = 0; i < in[1]; i++) {
    top.eval();
    edge(top);
  }
  if (!receive(cores, kCores)) return false;
  for (uint32_t i = 0; i < kCores; i++) {
    words(top.ready_i)[i] = cores[i] & 1;
    words(top.said_i)[i] = cores[i] >> 1 & 1;
    if (cores[i] & 2 && !receive(words(top.rep_i) + kMessage * i, kMessage)) return false;
  }
  top.eval();
  size_t n = 1 + kCores;
  out[0] = top.done_o;
  for (uint32_t i = 0; i < kCores; i++) {
    out[1 + i] = words(top.ordered_o)[i];
    if (!out[1 + i]) continue;
    out[0] += 2;
    memcpy(out + n, words(top.cmd_o) + kMessage * i, 4 * kMessage);
    n += kMessage;
  }
  edge(top);
  return send(out, n);
}

}  // namespace

int main(int argc, char **argv) {
  VerilatedContext context;
  context.commandArgs(argc, argv);
  answers = dup(1);
  if (answers < 0 || dup2(2, 1) < 0) return 2;
  Vharness top{&context};
  top.rst_ni = 0;
  top.eval();
  edge(top);
  top.rst_ni = 1;
  uint32_t in[2];
  while (receive(in, 2)) {
    if (!play(top, in)) return 2;
  }
  top.final();
  return 0;
}
