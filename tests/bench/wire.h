/* wire.h: a client's connection, read and written as a non-blocking socket is: -1 and EAGAIN where it cannot go on.
 *
 * `transport` says how: as it is, or sealed (tls.h, in a program that is built with it).
 */
#ifndef WIRE_H
#define WIRE_H

#include "net.h"

typedef struct {
    int fd;
    bool wants_room;                    /* the last send could not go on for want of room, not of bytes to read */
    bool more;                          /* the last receive left bytes of which no event will tell */
    bool offered, refused;              /* a session that was there before; it was not taken up again, known at the end */
    void *seal;
} wire;

typedef struct {
    void (*open)(wire *w);
    ssize_t (*send)(wire *w, const uint8_t *data, size_t size);
    ssize_t (*receive)(wire *w, uint8_t *into, size_t room);
    void (*close)(wire *w);
} way;

static inline void plain_open(wire *w) { w->wants_room = true; }
static inline ssize_t plain_send(wire *w, const uint8_t *data, size_t size) { return send(w->fd, data, size, 0); }
static inline ssize_t plain_receive(wire *w, uint8_t *into, size_t room) { return recv(w->fd, into, room, 0); }
static inline void plain_close(wire *w) { close(w->fd); }

static const way plain = {plain_open, plain_send, plain_receive, plain_close}, *transport = &plain;

#endif
