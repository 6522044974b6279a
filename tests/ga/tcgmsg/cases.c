// SPDX-License-Identifier: BSD-3-Clause
//
// TCGMSG's C interface against values worked out by hand. The argument chooses how the program
// ends: "error" and "parerr" with an error, "type" and "node" with bad input.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "msgtypesc.h"
#include "tcgmsg.h"

enum { long_length = 300001 };

static long failures = 0;
static long me = 0;
static long nodes = 0;

static void check(long is_right, const char* what) {
  if (!is_right) {
    printf("node %ld FAILED: %s\n", me, what);
    ++failures;
  }
}

static void fill(unsigned char* bytes, long length, long number) {
  for (long i = 0; i < length; ++i) {
    bytes[i] = (unsigned char)(i * 7 + number * 31);
  }
}

static long differs(const unsigned char* bytes, long length, long number) {
  for (long i = 0; i < length; ++i) {
    if (bytes[i] != (unsigned char)(i * 7 + number * 31)) {
      return 1;
    }
  }
  return 0;
}

static void send_in_a_ring(void) {
  static unsigned char out[long_length];
  static unsigned char in[long_length + 1];
  const long next = (me + 1) % nodes;
  const long before = (me + nodes - 1) % nodes;
  for (long length = 0; length < long_length; length = length * 5 + 1) {
    fill(out, length, me);
    long got = 0;
    long from = 0;
    // Long messages wait for their receivers, so the first node receives first.
    if (me == 0 && nodes > 1) {
      tcg_rcv(MSGCHR | 7, in, long_length, &got, before, &from, 1);
      tcg_snd(MSGCHR | 7, out, length, next, 1);
    } else {
      tcg_snd(MSGCHR | 7, out, length, next, 1);
      tcg_rcv(MSGCHR | 7, in, long_length, &got, before, &from, 1);
    }
    check(got == length && from == before && !differs(in, length, before), "ring");
  }
}

static void send_without_waiting(void) {
  static unsigned char out[2][long_length];
  static unsigned char in[2][long_length];
  const long next = (me + 1) % nodes;
  const long before = (me + nodes - 1) % nodes;
  long got = 0;
  long from = 0;
  fill(out[0], long_length, me);
  fill(out[1], 100, me + 1);
  tcg_rcv(20, in[0], long_length, &got, before, &from, 0);
  check(got == -1, "a receive that does not wait has no length");
  tcg_snd(20, out[0], long_length, next, 0);
  tcg_snd(20, out[1], 100, next, 0);
  // What was asked for first is received first.
  tcg_rcv(20, in[1], long_length, &got, -1, &from, 1);
  check(got == 100 && from == before && !differs(in[1], 100, before + 1), "second message");
  tcg_waitcom(-1);
  check(!differs(in[0], long_length, before), "first message");
  check(!tcg_probe(20, -1), "no message is left");
}

static void receive_from_any(void) {
  long value = me * me;
  long sum = 0;
  if (me > 0) {
    tcg_snd(MSGINT | 3, &value, (long)sizeof value, 0, 1);
    return;
  }
  for (long i = 1; i < nodes; ++i) {
    long got = 0;
    long from = 0;
    tcg_rcv(MSGINT | 3, &value, (long)sizeof value, &got, -1, &from, 1);
    check(got == (long)sizeof value && value == from * from, "message from any");
    sum += from;
  }
  check(sum == nodes * (nodes - 1) / 2, "each node once");
}

static void probe(void) {
  const long before = (me + nodes - 1) % nodes;
  long value = me;
  check(!tcg_probe(30, before), "nothing has arrived");
  tcg_synch(31);
  tcg_snd(30, &value, (long)sizeof value, (me + 1) % nodes, 1);
  while (!tcg_probe(30, before)) {
    usleep(1);
  }
  check(tcg_probe(30, -1), "from any");
  check(!tcg_probe(32, -1), "another type");
  long got = 0;
  long from = 0;
  tcg_rcv(30, &value, (long)sizeof value, &got, before, &from, 1);
  check(value == before && !tcg_probe(30, -1), "probed message");
}

static void combine(void) {
  const long n = nodes;
  struct {
    char op[8];
    long wanted;
  } cases[] = {
      {"+", n * (n + 1) / 2}, {"max", n}, {"min", 1}, {"absmax", n},
      {"absmin", 1},          {"*", 1},   {"&&", 1},  {"||", 1},
      {"minimum", 1},
  };
  for (long i = 1; i <= n; ++i) {
    cases[5].wanted *= i;
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    long numbers[3] = {me + 1, me + 1, me + 1};
    tcg_igop(5, numbers, 3, cases[i].op);
    check(numbers[0] == cases[i].wanted && numbers[2] == cases[i].wanted, cases[i].op);
    if (cases[i].op[0] != '&' && cases[i].op[0] != '|') {
      double reals[2] = {(double)(me + 1), -1.0 - (double)me};
      tcg_dgop(6, reals, 2, cases[i].op);
      check(fabs(reals[0] - (double)cases[i].wanted) < 1e-12, cases[i].op);
      if (strncmp(cases[i].op, "abs", 3) == 0) {
        check(fabs(reals[1] - (double)cases[i].wanted) < 1e-12, "absolute values");
      }
    }
  }
  long bits = 1L << me;
  tcg_igop(5, &bits, 1, "or");
  check(bits == (1L << n) - 1, "or");
  bits = 6 | (1L << (me + 3));
  tcg_igop(5, &bits, 1, "&");
  check(n == 1 ? bits == 14 : bits == 6, "&");
}

static void broadcast(void) {
  for (long root = 0; root < nodes; ++root) {
    double numbers[50];
    for (int i = 0; i < 50; ++i) {
      numbers[i] = me == root ? i + (double)root : -1.0;
    }
    tcg_brdcst(MSGDBL | 8, numbers, (long)sizeof numbers, root);
    check(fabs(numbers[49] - (49 + (double)root)) < 1e-12, "broadcast");
  }
}

// Each value is drawn once.
static void count(void) {
  for (int round = 0; round < 2; ++round) {
    long drawn[400] = {0};
    long last = -1;
    for (int i = 0; i < 100; ++i) {
      const long value = tcg_nxtval(nodes);
      check(value > last && value < 100 * nodes, "value of the counter");
      last = value;
      drawn[value] = 1;
    }
    tcg_igop(9, drawn, 100 * nodes, "+");
    long once = 0;
    for (long i = 0; i < 100 * nodes; ++i) {
      once += drawn[i] == 1;
    }
    check(once == 100 * nodes, "values that were drawn once");
    tcg_nxtval(-nodes);
  }
}

static void copy_file(void) {
  char name[64];
  snprintf(name, sizeof name, "tcgmsg_copy_%ld_%ld", nodes, me);
  if (me == 0) {
    FILE* file = fopen(name, "w");
    for (int i = 0; i < 100000; ++i) {
      fprintf(file, "line %d\n", i);
    }
    fclose(file);
  }
  tcg_pfcopy(10, 0, name);
  FILE* file = fopen(name, "r");
  check(file != NULL, "copied file");
  int lines = 0;
  int number = 0;
  while (file != NULL && fscanf(file, "line %d\n", &number) == 1) {
    lines += number == lines;
  }
  check(lines == 100000, "lines of the copied file");
  if (file != NULL) {
    fclose(file);
  }
  remove(name);
}

static void convert(void) {
  check(tcg_mdtob(3) == 24, "mdtob");
  check(tcg_mitob(3) == 3 * (long)sizeof(long), "mitob");
  check(tcg_mdtoi(3) == 3 && tcg_mitod(3) == 3, "mdtoi and mitod");
  check(tcg_time() >= 0 && tcg_mtime() >= 0, "clock");
  tcg_srand48(5);
  const double first = tcg_drand48();
  tcg_srand48(5);
  check(first >= 0 && first < 1 && !(fabs(tcg_drand48() - first) > 0), "random numbers");
  check(tcg_niceftn(0) == getpriority(PRIO_PROCESS, 0), "nice");
}

int main(int argc, char** argv) {
  const char* end = argc > 1 ? argv[1] : "";
  check(!tcg_ready(), "not started");
  tcg_alt_pbegin(&argc, &argv);
  check(tcg_ready(), "started");
  me = tcg_nodeid();
  nodes = tcg_nnodes();
  send_in_a_ring();
  send_without_waiting();
  receive_from_any();
  probe();
  combine();
  broadcast();
  count();
  copy_file();
  convert();
  tcg_setdbg(0);
  tcg_stats();
  tcg_igop(11, &failures, 1, "+");
  if (me == 0 && failures == 0) {
    printf("TCGMSG is right\n");
    fflush(stdout);
  }
  tcg_synch(12);
  if (strcmp(end, "error") == 0 && me == nodes - 1) {
    tcg_error("ended on purpose", 7);
  } else if (strcmp(end, "parerr") == 0 && me == nodes - 1) {
    tcg_parerr(7);
  } else if (strcmp(end, "type") == 0 && me == nodes - 1) {
    tcg_snd(-3, &me, (long)sizeof me, 0, 1);
  } else if (strcmp(end, "node") == 0 && me == nodes - 1) {
    tcg_snd(3, &me, (long)sizeof me, nodes, 1);
  } else if (strcmp(end, "operator") == 0) {
    double number = 1;
    tcg_dgop(3, &number, 1, "or");
  }
  if (end[0] != 0) {
    tcg_synch(13);
    printf("not reached\n");
  }
  if (failures > 0) {
    return 1;
  }
  tcg_pend();
}
