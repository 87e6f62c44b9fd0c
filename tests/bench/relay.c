/* relay: the least that a proxy in user space can do. Bytes go from one socket to the other, unread, on one thread.

   relay PORT=UPSTREAM ...    what connects to PORT on 127.0.0.1 is connected to UPSTREAM there

   Each event costs one recv and one send. What a receiver has no room for is kept, and its sender is not read meanwhile. */
#include "net.h"

enum { BUFFER = 1 << 18, EVENTS = 256 };

struct end {
    int fd, upstream; /* upstream: of a listener, the port to connect to; else 0 */
    struct end *other;
    char *kept; /* for this end, until it has room */
    size_t length;
};

static int epoll;
static char buffer[BUFFER];

static struct end *new_end(int fd, int upstream) {
    struct end *end = calloc(1, sizeof *end);
    if (!end) die("no memory");
    end->fd = fd, end->upstream = upstream;
    watch(epoll, fd, end, false, EPOLL_CTL_ADD);
    return end;
}

static void listen_on(int port, int upstream) {
    struct sockaddr_in address = address_of("127.0.0.1", port);
    int fd = tcp_socket(), on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 1024)) die("port %d: %s", port, strerror(errno));
    new_end(fd, upstream);
}

static void connect_both(struct end *listener) {
    struct sockaddr_in address = address_of("127.0.0.1", listener->upstream);
    int client = accept(listener->fd, NULL, NULL), broker = tcp_socket(), on = 1;
    if (client < 0) die("accept: %s", strerror(errno));
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(broker, (struct sockaddr *)&address, sizeof address)) die("connect: %s", strerror(errno));
    set_nonblocking(client), set_nonblocking(broker);
    struct end *one = new_end(client, 0), *two = new_end(broker, 0);
    one->other = two, two->other = one;
}

/* Ended together; the memory stays, for an event of this round may still name it. */
static void end_both(struct end *end) {
    close(end->fd), close(end->other->fd);
    end->fd = end->other->fd = -1;
}

static void keep(struct end *end, const char *bytes, size_t length) {
    if (!(end->kept = malloc(length))) die("no memory");
    memcpy(end->kept, bytes, end->length = length);
    watch(epoll, end->fd, end, true, EPOLL_CTL_MOD);
    struct epoll_event quiet = {.events = 0, .data.ptr = end->other};
    if (epoll_ctl(epoll, EPOLL_CTL_MOD, end->other->fd, &quiet)) die("epoll: %s", strerror(errno));
}

static void move_on(struct end *from) {
    ssize_t got = recv(from->fd, buffer, BUFFER, 0);
    if (got < 0 && would_block()) return;
    if (got <= 0) return end_both(from);
    ssize_t sent = send(from->other->fd, buffer, (size_t)got, 0);
    if (sent < 0 && !would_block()) return end_both(from);
    if (sent < 0) sent = 0;
    if (sent < got) keep(from->other, buffer + sent, (size_t)(got - sent));
}

static void send_kept(struct end *end) {
    ssize_t sent = send(end->fd, end->kept, end->length, 0);
    if (sent < 0) return would_block() ? (void)0 : end_both(end);
    memmove(end->kept, end->kept + sent, end->length -= (size_t)sent);
    if (end->length) return;
    free(end->kept), end->kept = NULL;
    watch(epoll, end->fd, end, false, EPOLL_CTL_MOD);
    watch(epoll, end->other->fd, end->other, false, EPOLL_CTL_MOD);
}

int main(int count, char **arguments) {
    epoll = new_epoll();
    for (int i = 1; i < count; i++) {
        int port, upstream;
        if (sscanf(arguments[i], "%d=%d", &port, &upstream) != 2) die("%s: say PORT=UPSTREAM", arguments[i]);
        listen_on(port, upstream);
    }
    for (;;) {
        struct epoll_event events[EVENTS];
        int ready = epoll_wait(epoll, events, EVENTS, -1);
        if (ready < 0 && errno != EINTR) die("epoll: %s", strerror(errno));
        for (int i = 0; i < ready; i++) {
            struct end *end = events[i].data.ptr;
            if (end->fd < 0) continue;
            if (end->upstream) connect_both(end);
            else if (end->kept && events[i].events & EPOLLOUT) send_kept(end);
            else if (!end->other->kept) move_on(end);
            else if (events[i].events & (EPOLLHUP | EPOLLERR)) end_both(end);
        }
    }
}
