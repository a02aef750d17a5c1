// A ping-pong of one client with one server over tcp or udp in as little code as
// it takes: what the round trips of our load are held against. Linux only.
//
//   gcc -O2 pingpong.c -o pingpong
//   ./pingpong server tcp|udp busy|sleep CPU
//       prints "port N" and echoes until it is killed or its parent dies
//   ./pingpong client tcp|udp busy|sleep CPU PORT BYTES WARMUP_MS MEASURE_MS
//       prints {"p50_us": …, "p99_us": …, "count": …}
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_RTTS = 1 << 22 };

static int udp;
static int flags; // of a receive: MSG_DONTWAIT to poll
static char buf[1 << 16];
static uint32_t rtts[MOST_RTTS];

static void check(int ok, const char *what) {
  if (ok) return;
  perror(what);
  exit(1);
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  check(sched_setaffinity(0, sizeof set, &set) == 0, "pin to a CPU");
}

static void answerAtOnce(int fd) {
  int on = 1;
  if (!udp) check(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0, "set TCP_NODELAY");
}

// receive waits for bytes in the way asked for. from and size may be NULL.
static ssize_t receive(int fd, struct sockaddr_in *from, socklen_t *size) {
  for (;;) {
    ssize_t n = recvfrom(fd, buf, sizeof buf, flags, (struct sockaddr *)from, size);
    if (n >= 0 || (errno != EAGAIN && errno != EINTR)) return n;
  }
}

// echo answers one connection until it ends, or any number of datagrams.
static void echo(int fd) {
  for (;;) {
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    ssize_t n = receive(fd, &from, &size);
    if (n <= 0 && !udp) return;
    check(n >= 0, "receive");
    ssize_t sent = udp ? sendto(fd, buf, n, 0, (struct sockaddr *)&from, size) : send(fd, buf, n, MSG_NOSIGNAL);
    if (sent != n && !udp) return;
    check(sent == n, "send");
  }
}

static void serve(int fd, struct sockaddr_in at) {
  socklen_t size = sizeof at;
  check(bind(fd, (struct sockaddr *)&at, size) == 0, "bind");
  check(getsockname(fd, (struct sockaddr *)&at, &size) == 0, "read the port");
  if (!udp) check(listen(fd, 8) == 0, "listen");
  printf("port %d\n", ntohs(at.sin_port));
  fflush(stdout);
  if (udp) echo(fd);
  for (;;) {
    int conn = accept(fd, NULL, NULL);
    check(conn >= 0, "accept");
    answerAtOnce(conn);
    echo(conn);
    close(conn);
  }
}

static int ascending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

// measure reads the clock once a round trip, as our load does: one ends where
// the next begins.
static void measure(int fd, ssize_t bytes, int64_t warmup, int64_t length) {
  static char message[sizeof buf];
  memset(rtts, 1, sizeof rtts); // no page fault while measuring
  int64_t sent = now(), from = sent + warmup, until = from + length;
  int count = 0;
  while (sent < until && count < MOST_RTTS) {
    check(send(fd, message, bytes, 0) == bytes, "send");
    for (ssize_t back = 0; back < bytes;) {
      ssize_t n = receive(fd, NULL, NULL);
      check(n > 0, "receive");
      back += n;
    }
    int64_t at = now();
    if (sent >= from) rtts[count++] = at - sent;
    sent = at;
  }
  if (count == 0) {
    fprintf(stderr, "no round trip within the time measured: the CPUs must be free of other work\n");
    exit(1);
  }
  qsort(rtts, count, sizeof *rtts, ascending);
  printf("{\"p50_us\": %.3f, \"p99_us\": %.3f, \"count\": %d}\n", rtts[count / 2] / 1e3, rtts[count * 99LL / 100] / 1e3, count);
}

int main(int argc, char **argv) {
  int client = argc == 9 && strcmp(argv[1], "client") == 0;
  if (!client && (argc != 5 || strcmp(argv[1], "server") != 0)) {
    fprintf(stderr, "usage: see the head of pingpong.c\n");
    return 2;
  }
  udp = strcmp(argv[2], "udp") == 0;
  flags = strcmp(argv[3], "busy") == 0 ? MSG_DONTWAIT : 0;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  pin(atoi(argv[4]));
  int fd = socket(AF_INET, udp ? SOCK_DGRAM : SOCK_STREAM, 0);
  check(fd >= 0, "socket");
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (!client) serve(fd, at);
  at.sin_port = htons(atoi(argv[5]));
  check(connect(fd, (struct sockaddr *)&at, sizeof at) == 0, "connect");
  answerAtOnce(fd);
  ssize_t bytes = atoi(argv[6]);
  if (bytes < 1 || bytes > (ssize_t)sizeof buf) {
    fprintf(stderr, "%zd bytes lie outside 1 to %zu\n", bytes, sizeof buf);
    return 2;
  }
  measure(fd, bytes, atoll(argv[7]) * 1000000, atoll(argv[8]) * 1000000);
}
