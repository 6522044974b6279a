// SPDX-License-Identifier: BSD-3-Clause
#include "bench/baselines/tcp_server.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>

namespace tessera::bench {

TcpServer::Served TcpServer::serve_one(Waiting waiting) {
  std::uint64_t word = 0;
  if (!reader_.read(writable_bytes_of(word), waiting)) {
    return Served::closed;
  }
  const TcpRequest request = TcpRequest::decode(word);
  if (request.offset > memory_.size() || request.bytes > memory_.size() - request.offset) {
    throw std::system_error(EPROTO, std::generic_category(),
                            "a request addresses memory outside the buffer");
  }
  const auto place = memory_.subspan(request.offset, request.bytes);
  switch (request.kind) {
    case TcpKind::end:
      answer(waiting);
      return Served::end;
    case TcpKind::echo:  // the request is the message's first 8 bytes
      reader_.read(place.subspan(sizeof word), waiting);
      socket_.send(bytes_of(word), place.subspan(sizeof word), waiting);
      break;
    case TcpKind::put:
    case TcpKind::put_unanswered:
      reader_.read(place, waiting);
      if (request.kind == TcpKind::put) {
        answer(waiting);
      }
      break;
    case TcpKind::get:
      socket_.send(place, waiting);
      break;
    case TcpKind::add: {
      std::int64_t increment = 0;
      reader_.read(writable_bytes_of(increment), waiting);
      std::int64_t before = 0;
      std::memcpy(&before, place.data(), sizeof before);
      const std::int64_t after = before + increment;
      std::memcpy(place.data(), &after, sizeof after);
      socket_.send(bytes_of(before), waiting);
      break;
    }
  }
  return Served::request;
}

void TcpServer::answer(Waiting waiting) {
  const std::uint64_t done = 1;
  socket_.send(bytes_of(done), waiting);
}

}  // namespace tessera::bench
