/* tls.h: TLS 1.3 for wire.h, by OpenSSL.
 *
 * The handshake is done by the first reads and writes. The server's certificate is not judged: the server is measured,
 * not trusted. From when `tls.resume` is set, the first session that it gives is taken up again by every later connection.
 */
#ifndef TLS_H
#define TLS_H

#include "wire.h"
#include <openssl/err.h>
#include <openssl/ssl.h>

static struct { SSL_CTX *context; SSL_SESSION *session; bool resume; } tls;

static ssize_t tls_outcome(wire *w, int good, size_t size, const char *what) {
    if (good) return (ssize_t)size;
    int why = SSL_get_error(w->seal, good);
    unsigned long code = ERR_get_error();
    if (why == SSL_ERROR_ZERO_RETURN) return 0;
    if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE)
        die("%s: %s", what, code ? ERR_reason_error_string(code) : errno ? strerror(errno) : "the connection was closed");
    w->wants_room = why == SSL_ERROR_WANT_WRITE;
    errno = EAGAIN;
    return -1;
}

static int tls_keep(SSL *ssl, SSL_SESSION *session) {
    (void)ssl;
    if (!tls.resume || tls.session) return 0;
    tls.session = session;
    return 1;                           /* it is ours now */
}

static void tls_open(wire *w) {
    SSL *ssl = w->seal = need(SSL_new(tls.context));
    SSL_set_fd(ssl, w->fd);
    SSL_set_connect_state(ssl);
    if (!tls.session) return;
    SSL_SESSION *copy = need(SSL_SESSION_dup(tls.session));     /* OpenSSL has a session of TLS 1.3 taken up only once */
    SSL_set_session(ssl, copy);
    SSL_SESSION_free(copy);
    w->offered = true;
}

static ssize_t tls_send(wire *w, const uint8_t *data, size_t size) {
    size_t sent = 0;
    ERR_clear_error();
    errno = 0;
    int good = SSL_write_ex(w->seal, data, size, &sent);
    return tls_outcome(w, good, sent, "send");
}

/* As many records as there are and fit. */
static ssize_t tls_receive(wire *w, uint8_t *into, size_t room) {
    size_t all = 0, got = 0;
    w->more = false;
    while (all < room) {
        ERR_clear_error();
        errno = 0;
        int good = SSL_read_ex(w->seal, into + all, room - all, &got);
        ssize_t some = tls_outcome(w, good, got, "receive");
        if (some <= 0) return all ? (ssize_t)all : some;
        all += (size_t)some;
    }
    w->more = true;
    return (ssize_t)all;
}

static void tls_close(wire *w) {
    w->refused = w->offered && !SSL_session_reused(w->seal);
    SSL_shutdown(w->seal);
    SSL_free(w->seal);
    close(w->fd);
}

static void tls_begin(void) {
    static const way sealed = {tls_open, tls_send, tls_receive, tls_close};
    transport = &sealed;
    tls.context = need(SSL_CTX_new(TLS_client_method()));
    SSL_CTX_set_min_proto_version(tls.context, TLS1_3_VERSION);
    SSL_CTX_set_mode(tls.context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(tls.context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(tls.context, tls_keep);
    SSL_CTX_set_default_read_buffer_len(tls.context, RECEIVE_BUFFER);
    SSL_CTX_set_read_ahead(tls.context, 1);
}

#endif
