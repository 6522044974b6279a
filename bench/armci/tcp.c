// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include "bench/armci/tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/armci/shape.h"
#include "bench/armci/target.h"

/// The data follow one word: kind + request_kinds * count.
enum request_kind { request_get, request_put, request_flush, request_end, request_kinds };

// Whether to repeat a failed call. Yields, because the other end may need this core.
static bool should_retry(struct tcp tcp, int* looks) {
  enum { polls_before_yielding = 200 };  // about 50 µs
  if (tcp.polls && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    if (++*looks > polls_before_yielding) {
      sched_yield();
    }
    return true;
  }
  return errno == EINTR;
}

static void send_all(struct tcp tcp, const void* bytes, size_t count) {
  const char* next = bytes;
  int looks = 0;
  while (count > 0) {
    const ssize_t sent =
        send(tcp.descriptor, next, count, MSG_NOSIGNAL | (tcp.polls ? MSG_DONTWAIT : 0));
    if (sent >= 0) {
      next += sent;
      count -= (size_t)sent;
    } else if (!should_retry(tcp, &looks)) {
      fail("cannot send on loopback");
    }
  }
}

static void receive_all(struct tcp tcp, void* bytes, size_t count) {
  char* next = bytes;
  int looks = 0;
  while (count > 0) {
    const ssize_t received = recv(tcp.descriptor, next, count, tcp.polls ? MSG_DONTWAIT : 0);
    if (received > 0) {
      next += received;
      count -= (size_t)received;
    } else if (received == 0 || !should_retry(tcp, &looks)) {
      fail("cannot receive on loopback");
    }
  }
}

static void send_request(struct tcp tcp, enum request_kind kind, long count) {
  const long word = (long)kind + request_kinds * count;
  send_all(tcp, &word, sizeof word);
}

static struct sockaddr_in loopback(int port) {
  struct sockaddr_in address;
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons((unsigned short)port);
  return address;
}

static struct tcp without_delay(int descriptor, bool polls) {
  const int on = 1;
  if (descriptor < 0 || setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
    fail("cannot connect on loopback");
  }
  const struct tcp tcp = {descriptor, polls};
  return tcp;
}

struct tcp open_tcp(bool polls) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (listener < 0 || bind(listener, (struct sockaddr*)&address, size) != 0 ||
      listen(listener, 1) != 0 || getsockname(listener, (struct sockaddr*)&address, &size) != 0) {
    fail("cannot listen on loopback");
  }
  command_target(polls ? command_tcp_polling : command_tcp_blocking, ntohs(address.sin_port));
  const int descriptor = accept(listener, NULL, NULL);
  close(listener);
  return without_delay(descriptor, polls);
}

void close_tcp(struct tcp tcp) {
  send_request(tcp, request_end, 0);
  char last = 0;
  // The target closes first, so that no port stays in use.
  while (recv(tcp.descriptor, &last, 1, 0) < 0 && errno == EINTR) {
  }
  close(tcp.descriptor);
}

void request_tcp(struct tcp tcp, char* bytes, long count) {
  send_request(tcp, request_get, count);
  receive_all(tcp, bytes, (size_t)count);
}

void announce_tcp(struct tcp tcp, long count) {
  send_request(tcp, request_put, count);
}

void send_tcp(struct tcp tcp, const char* bytes, long count) {
  send_all(tcp, bytes, (size_t)count);
}

void wait_for_arrival_tcp(struct tcp tcp) {
  send_request(tcp, request_flush, 0);
  long answer = 0;
  receive_all(tcp, &answer, sizeof answer);
}

// Receives that number of bytes, each time as many as the buffer can hold.
static void take_stream(struct tcp tcp, char* bytes, long count) {
  while (count > 0) {
    const long portion = count < max_bytes ? count : max_bytes;
    receive_all(tcp, bytes, (size_t)portion);
    count -= portion;
  }
}

static void serve_requests(struct tcp tcp, char* bytes) {
  long word = 0;
  while (word % request_kinds != request_end) {
    receive_all(tcp, &word, sizeof word);
    const long count = word / request_kinds;
    switch ((enum request_kind)(word % request_kinds)) {
      case request_get:
        send_all(tcp, bytes, (size_t)count);
        break;
      case request_put:
        take_stream(tcp, bytes, count);
        break;
      case request_flush:
        send_all(tcp, &word, sizeof word);
        break;
      case request_end:
      case request_kinds:
        break;
    }
  }
}

void serve_tcp(int port, bool polls) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const struct sockaddr_in address = loopback(port);
  if (connect(descriptor, (const struct sockaddr*)&address, sizeof address) != 0) {
    fail("cannot connect on loopback");
  }
  const struct tcp tcp = without_delay(descriptor, polls);
  char* bytes = malloc(max_bytes);
  if (bytes == NULL) {
    fail("out of memory");
  }
  fill(bytes, max_bytes, tcp_salt);
  serve_requests(tcp, bytes);
  free(bytes);
  close(descriptor);
}
