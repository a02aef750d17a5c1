// A tcp echo over standalone Asio with both ends in one process: the peer that
// colocated cells are measured against. It checks nothing and keeps every RTT
// in memory, so it is a generous opponent.
//
//   g++ -O3 -std=c++20 -DNDEBUG asio_loop.cpp -o asio_loop -lpthread
//   ./asio_loop PAYLOAD CLIENTS WINDOW shared|sharded THREADS SECONDS
#include <asio.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

using asio::ip::tcp;
using Clock = std::chrono::steady_clock;

static size_t payload = 1024;
static int window = 16;
static std::atomic<bool> counting{false}, stopped{false};

struct Connection : std::enable_shared_from_this<Connection> {
  tcp::socket socket;
  std::vector<char> in = std::vector<char>(65536), out, sending;
  bool writing = false;
  asio::strand<asio::any_io_executor> strand;

  explicit Connection(tcp::socket s) : socket(std::move(s)), strand(asio::make_strand(socket.get_executor())) {}
  virtual ~Connection() = default;
  virtual void onData(const char *p, size_t n) = 0;

  void read() {
    auto self = shared_from_this();
    socket.async_read_some(asio::buffer(in), asio::bind_executor(strand, [this, self](auto error, size_t n) {
      if (error) return;
      onData(in.data(), n);
      flush();
      read();
    }));
  }

  void flush() {
    if (writing || out.empty()) return;
    writing = true;
    std::swap(out, sending);
    out.clear();
    auto self = shared_from_this();
    asio::async_write(socket, asio::buffer(sending), asio::bind_executor(strand, [this, self](auto error, size_t) {
      writing = false;
      sending.clear();
      if (!error) flush();
    }));
  }
};

struct Server : Connection {
  using Connection::Connection;
  void onData(const char *p, size_t n) override { out.insert(out.end(), p, p + n); }
};

struct Client : Connection {
  using Connection::Connection;
  size_t got = 0, head = 0;
  uint64_t count = 0;
  std::vector<Clock::time_point> sentAt;
  std::vector<uint32_t> rtts;
  std::vector<char> message = std::vector<char>(payload, 'x');

  void start() {
    asio::post(strand, [this, self = shared_from_this()] {
      sentAt.resize(window);
      for (auto &t : sentAt) {
        t = Clock::now();
        out.insert(out.end(), message.begin(), message.end());
      }
      flush();
      read();
    });
  }

  void onData(const char *, size_t n) override {
    for (got += n; got >= payload; head = (head + 1) % window) {
      got -= payload;
      auto now = Clock::now();
      if (counting) {
        count++;
        rtts.push_back(std::chrono::duration_cast<std::chrono::nanoseconds>(now - sentAt[head]).count());
      }
      if (stopped) continue;
      sentAt[head] = Clock::now();
      out.insert(out.end(), message.begin(), message.end());
    }
  }
};

static double cpuSeconds() {
  rusage r;
  getrusage(RUSAGE_SELF, &r);
  return r.ru_utime.tv_sec + r.ru_stime.tv_sec + (r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: %s PAYLOAD CLIENTS WINDOW shared|sharded THREADS SECONDS\n", argv[0]);
    return 2;
  }
  payload = std::atoi(argv[1]);
  int clients = std::atoi(argv[2]);
  window = std::atoi(argv[3]);
  bool sharded = !std::strcmp(argv[4], "sharded");
  int threads = std::atoi(argv[5]);
  double length = std::atof(argv[6]);

  std::vector<std::unique_ptr<asio::io_context>> contexts;
  for (int i = 0; i < (sharded ? threads : 1); i++) contexts.emplace_back(new asio::io_context(sharded ? 1 : threads));
  std::vector<asio::executor_work_guard<asio::io_context::executor_type>> guards;
  for (auto &c : contexts) guards.emplace_back(c->get_executor());

  tcp::acceptor acceptor(*contexts[0], tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  std::vector<std::shared_ptr<Client>> clientEnds;
  std::vector<std::shared_ptr<Server>> serverEnds;
  for (int i = 0; i < clients; i++) {
    auto &c = *contexts[i % contexts.size()];
    tcp::socket near(c), far(c);
    near.connect(acceptor.local_endpoint());
    near.set_option(tcp::no_delay(true));
    acceptor.accept(far);
    far.set_option(tcp::no_delay(true));
    clientEnds.push_back(std::make_shared<Client>(std::move(near)));
    serverEnds.push_back(std::make_shared<Server>(std::move(far)));
  }
  for (auto &s : serverEnds) asio::post(s->strand, [s] { s->read(); });
  for (auto &s : clientEnds) s->start();

  std::vector<std::thread> pool;
  for (int i = 0; i < threads; i++) pool.emplace_back([&, i] { contexts[i % contexts.size()]->run(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  auto begin = Clock::now();
  double cpu = cpuSeconds();
  counting = true;
  std::this_thread::sleep_for(std::chrono::duration<double>(length));
  counting = false;
  cpu = cpuSeconds() - cpu;
  double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
  stopped = true;
  for (auto &c : contexts) c->stop();
  for (auto &t : pool) t.join();

  uint64_t n = 0;
  std::vector<uint32_t> all;
  for (auto &s : clientEnds) {
    n += s->count;
    all.insert(all.end(), s->rtts.begin(), s->rtts.end());
  }
  std::sort(all.begin(), all.end());
  auto at = [&](double p) { return all.empty() ? 0.0 : all[(size_t)(p * (all.size() - 1))] / 1e3; };
  std::printf("{\"roundtrips\":%llu,\"seconds\":%.6f,\"cpu_seconds\":%.6f,\"p50_us\":%.1f,\"p99_us\":%.1f}\n",
              (unsigned long long)n, elapsed, cpu, at(.5), at(.99));
  std::fflush(stdout);
  _exit(0);
}
