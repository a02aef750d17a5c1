// A TLS 1.3 peer over libssl that hands every byte of TLS to the kernel by a
// send of its own, in records as small as libssl makes them, so that nothing
// reaches the other end whole.
//
//   cc splitter.c -o splitter -lssl -lcrypto
//   ./splitter server CERT.pem KEY.pem MOST
//       prints "port N" and echoes the bytes of one connection until its
//       close_notify; closes first once it has echoed MOST bytes
//   ./splitter client CA.pem NAME PORT BYTES COUNT
//       sends COUNT messages, each of four bytes of length and BYTES more, and
//       compares the echoes; before each it asks for new keys in both directions
//
// Both print "good" and exit with 0 if the peer sent a close_notify, and nothing
// went wrong before it.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { SMALLEST_FRAGMENT = 512, MOST = 1 << 16 };

static int fd;
static SSL *ssl;
static BIO *arrived, *leaving; // what libssl reads from and writes to

static void check(int ok, const char *what) {
  if (ok) return;
  perror(what);
  ERR_print_errors_fp(stderr);
  exit(1);
}

static void flush(void) {
  char b;
  while (BIO_read(leaving, &b, 1) == 1) check(send(fd, &b, 1, 0) == 1, "send");
}

// settled follows each call of libssl: it sends what that wrote, and waits for
// more of the peer's bytes where it wants them. Until then the call is repeated.
static int settled(int result) {
  flush();
  if (result > 0) return 1;
  int why = SSL_get_error(ssl, result);
  if (why == SSL_ERROR_ZERO_RETURN) return 1;
  check(why == SSL_ERROR_WANT_READ, "tls");
  char in[4096];
  ssize_t n = recv(fd, in, sizeof in, 0);
  check(n >= 0, "receive");
  if (n == 0) {
    fprintf(stderr, "the peer's stream ends without a close_notify\n");
    exit(1);
  }
  check(BIO_write(arrived, in, n) == n, "keep what arrived");
  return 0;
}

// readSome returns 0 after the peer's close_notify.
static int readSome(char *into, int room) {
  int n;
  do n = SSL_read(ssl, into, room);
  while (!settled(n));
  return n > 0 ? n : 0;
}

static void writeAll(const char *from, int length) {
  int n;
  do n = SSL_write(ssl, from, length);
  while (!settled(n));
  check(n == length, "write");
}

static void secure(SSL_CTX *ctx) {
  int on = 1;
  check(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0, "set TCP_NODELAY");
  ssl = SSL_new(ctx);
  arrived = BIO_new(BIO_s_mem()), leaving = BIO_new(BIO_s_mem());
  check(ssl && arrived && leaving, "make a connection");
  SSL_set_bio(ssl, arrived, leaving);
  SSL_set_max_send_fragment(ssl, SMALLEST_FRAGMENT);
}

// closeBoth says that nothing follows and waits for the peer to say the same,
// whatever it still sends before.
static void closeBoth(void) {
  char rest[4096];
  SSL_shutdown(ssl);
  flush();
  while (readSome(rest, sizeof rest) > 0) {
  }
}

static void serve(SSL_CTX *ctx, char **arg) {
  check(SSL_CTX_use_certificate_chain_file(ctx, arg[0]) == 1, arg[0]);
  check(SSL_CTX_use_PrivateKey_file(ctx, arg[1], SSL_FILETYPE_PEM) == 1, arg[1]);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  check(bind(listener, (struct sockaddr *)&at, size) == 0 && listen(listener, 1) == 0, "listen");
  check(getsockname(listener, (struct sockaddr *)&at, &size) == 0, "read the port");
  printf("port %d\n", ntohs(at.sin_port));
  fflush(stdout);
  check((fd = accept(listener, NULL, NULL)) >= 0, "accept");
  secure(ctx);
  SSL_set_accept_state(ssl);
  char buf[4096];
  int left = atoi(arg[2]), n;
  while (left > 0 && (n = readSome(buf, left < (int)sizeof buf ? left : (int)sizeof buf)) > 0) {
    writeAll(buf, n);
    left -= n;
  }
  closeBoth();
}

static void ask(SSL_CTX *ctx, char **arg) {
  check(SSL_CTX_load_verify_locations(ctx, arg[0], NULL) == 1, arg[0]);
  SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(atoi(arg[2]))};
  fd = socket(AF_INET, SOCK_STREAM, 0);
  check(connect(fd, (struct sockaddr *)&at, sizeof at) == 0, "connect");
  secure(ctx);
  check(SSL_set1_host(ssl, arg[1]) == 1 && SSL_set_tlsext_host_name(ssl, arg[1]) == 1, "set the name");
  SSL_set_connect_state(ssl);
  int n;
  do n = SSL_do_handshake(ssl);
  while (!settled(n));

  static char message[4 + MOST], echo[sizeof message];
  uint32_t bytes = atoi(arg[3]), prefix = htonl(bytes);
  check(bytes >= 1 && bytes <= MOST, "a length out of range");
  memcpy(message, &prefix, 4);
  for (int i = atoi(arg[4]); i > 0; i--) {
    check(SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED) == 1, "key update");
    memset(message + 4, i, bytes);
    writeAll(message, 4 + bytes);
    for (uint32_t back = 0; back < 4 + bytes; back += n) check((n = readSome(echo + back, 4 + bytes - back)) > 0, "the peer closed early");
    check(memcmp(message, echo, 4 + bytes) == 0, "another echo came back");
  }
  closeBoth();
}

int main(int argc, char **argv) {
  signal(SIGPIPE, SIG_IGN); // a failed send says so itself
  SSL_CTX *ctx = SSL_CTX_new(TLS_method());
  check(ctx && SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) == 1, "set up TLS 1.3");
  if (argc == 5 && strcmp(argv[1], "server") == 0) {
    serve(ctx, argv + 2);
  } else if (argc == 7 && strcmp(argv[1], "client") == 0) {
    ask(ctx, argv + 2);
  } else {
    fprintf(stderr, "usage: see the head of splitter.c\n");
    return 2;
  }
  puts("good");
}
