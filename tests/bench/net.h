/* net.h: the sockets of the load generator and the dummy broker. IPv4 on loopback, TCP_NODELAY, level-triggered epoll. */
#ifndef NET_H
#define NET_H

#include "kafka.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static inline int tcp_socket(void) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0) die("socket: %s", strerror(errno));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static inline struct sockaddr_in address_of(const char *host, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    const char *ip = strcmp(host, "localhost") ? host : "127.0.0.1";
    if (inet_pton(AF_INET, ip, &address.sin_addr) != 1) die("%s: not an IPv4 address", host);
    return address;
}

static inline void set_nonblocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

static inline bool would_block(void) { return errno == EAGAIN || errno == EWOULDBLOCK; }

/* A socket that is full is watched for room; one that is not, only for bytes to read. */
static inline void watch(int epoll, int fd, void *owner, bool full, int operation) {
    struct epoll_event event = {.events = EPOLLIN | (full ? EPOLLOUT : 0), .data.ptr = owner};
    if (epoll_ctl(epoll, operation, fd, &event)) die("epoll: %s", strerror(errno));
}

static inline int new_epoll(void) {
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) die("epoll: %s", strerror(errno));
    signal(SIGPIPE, SIG_IGN);
    return epoll;
}

#endif
