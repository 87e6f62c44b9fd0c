/* broker.c: a dummy Kafka cluster in one process, quick enough not to be what is measured.
 *
 * It answers ApiVersions, Metadata, Produce and Fetch as a broker would, in every version it advertises; it keeps
 * nothing. Its rules:
 *   - a frame is answered when its last byte is there; of one longer than WHOLE only its first HEAD bytes are kept, the
 *     others are dropped, so it must be about one topic, named within those bytes (the load generator's are);
 *   - a Produce or Fetch is about one partition of each topic;
 *   - every answer is a send of its own, as a broker's: it serves one request of a connection at a time;
 *   - a Fetch is answered with one batch of one record, whose value has as many bytes as the partition's max bytes;
 *   - a session of Fetch requests has the number of its connection, and each request of it is about what it names;
 *   - node ids are 0 .. brokers - 1; partition P of a topic is led by node P modulo brokers;
 *   - a client that sends what cannot be read is disconnected, with one line on standard error.
 * It prints `ports A B C`, the ports of its brokers, and serves until it is ended.
 */
#include "net.h"
#include <getopt.h>

enum { HEAD = 512, WHOLE = 64 << 10, MOST_BROKERS = 64, PIECES = 64, PAYLOADS = 8 };

static const struct { int api, min, max; } SPOKEN[] = {
    {PRODUCE, 3, 12}, {FETCH, 4, 17}, {METADATA, 0, 12}, {API_VERSIONS, 0, 4},
};
enum { APIS = sizeof SPOKEN / sizeof SPOKEN[0] };

static struct { char host[64]; int port, listener; } nodes[MOST_BROKERS];
static int brokers = 1, topics = 1, partitions = 3, epoll;

typedef struct { uint8_t *head; size_t head_size; const uint8_t *body; size_t body_size; } answer;

typedef struct conn {
    int fd;
    bool full;                          /* waits for room to send */
    uint8_t head[4 + WHOLE];            /* of the frame that is arriving, its size first */
    size_t got, size;                   /* bytes of it that arrived; its length with the size, 0 while unknown */
    answer *ring;                       /* answers not yet sent, from `first`, `count` of them */
    size_t cap, first, count, sent;     /* `sent` bytes of the first one are gone */
} conn;

typedef struct { int api, version, correlation_id; bool flex; reader body; } request;

/* ---- answers ---- */

static void push(conn *c, writer *w, const uint8_t *body, size_t body_size) {
    end_frame(w, body_size);
    if (c->count == c->cap) {
        size_t cap = c->cap ? c->cap * 2 : 8;
        answer *ring = need(malloc(cap * sizeof *ring));
        for (size_t i = 0; i < c->count; i++) ring[i] = c->ring[(c->first + i) % c->cap];
        free(c->ring);
        c->ring = ring, c->cap = cap, c->first = 0;
    }
    c->ring[(c->first + c->count++) % c->cap] = (answer){w->data, w->len, body, body_size};
}

static writer response(const request *q) {
    writer w = {0};
    put32(&w, 0);
    put32(&w, q->correlation_id);
    put_tags(&w, q->flex && q->api != API_VERSIONS);    /* KIP-511: its response header is always v0 */
    return w;
}

static bool api_versions(conn *c, request *q) {
    bool known = q->version <= 4;
    if (!known) q->version = 0, q->flex = false;        /* KIP-511: what any client can read */
    writer w = response(q);
    put16(&w, known ? NONE : UNSUPPORTED_VERSION);
    put_count(&w, q->flex, APIS);
    for (int i = 0; i < APIS; i++) {
        put16(&w, SPOKEN[i].api);
        put16(&w, SPOKEN[i].min);
        put16(&w, SPOKEN[i].max);
        put_tags(&w, q->flex);
    }
    if (q->version >= 1) put32(&w, 0);
    put_tags(&w, q->flex);
    push(c, &w, NULL, 0);
    return true;
}

static void topic_name(char *into, size_t room, int topic) { snprintf(into, room, "bench-%d", topic); }

static void topic_id(uint8_t *id, int topic) {
    memcpy(id, "doorkeeper-bench", UUID);
    store(id + 12, (uint64_t)topic, 4);
}

static void put_nodes(writer *w, bool flex, int first, int count) {
    put_count(w, flex, count);
    for (int i = 0; i < count; i++) put32(w, (first + i) % brokers);
}

static void put_topic(writer *w, int version, bool flex, int topic, const char *name) {
    uint8_t id[UUID] = {0};
    if (topic >= 0) topic_id(id, topic);
    put16(w, topic >= 0 ? NONE : UNKNOWN_TOPIC_OR_PARTITION);
    put_string(w, flex, name);
    if (version >= 10) put_raw(w, id, UUID);
    if (version >= 1) put8(w, 0);
    put_count(w, flex, topic >= 0 ? partitions : 0);
    for (int p = 0; topic >= 0 && p < partitions; p++) {
        int replicas = brokers < 3 ? brokers : 3;
        put16(w, NONE);
        put32(w, p);
        put32(w, p % brokers);
        if (version >= 7) put32(w, 0);
        put_nodes(w, flex, p, replicas);
        put_nodes(w, flex, p, replicas);
        if (version >= 5) put_nodes(w, flex, 0, 0);
        put_tags(w, flex);
    }
    if (version >= 8) put32(w, INT32_MIN);
    put_tags(w, flex);
}

/* The topic's index, or -1 when there is none; the name is filled in where the request gave only the id. */
static int find_topic(char *name, size_t room, const uint8_t *id) {
    int topic = -1;
    if (!*name) {
        uint8_t expected[UUID];
        topic = (int)load_uint(id + 12, 4);
        topic_id(expected, topic);
        if (memcmp(expected, id, UUID)) topic = -1; else topic_name(name, room, topic);
    } else if (!strncmp(name, "bench-", 6)) {
        topic = atoi(name + 6);
    }
    return topic >= 0 && topic < topics ? topic : -1;
}

static bool metadata(conn *c, request *q) {
    int version = q->version;
    int64_t asked = get_count(&q->body, q->flex);
    bool all = asked < 0 || (version == 0 && asked == 0);
    writer w = response(q);
    if (version >= 3) put32(&w, 0);
    put_count(&w, q->flex, brokers);
    for (int i = 0; i < brokers; i++) {
        put32(&w, i);
        put_string(&w, q->flex, nodes[i].host);
        put32(&w, nodes[i].port);
        if (version >= 1) put_string(&w, q->flex, NULL);
        put_tags(&w, q->flex);
    }
    if (version >= 2) put_string(&w, q->flex, "doorkeeper-bench-cluster");
    if (version >= 1) put32(&w, 0);
    put_count(&w, q->flex, all ? topics : asked);
    for (int i = 0; i < (all ? topics : asked) && !q->body.bad; i++) {
        char name[250] = "";
        uint8_t id[UUID] = {0};
        if (all) {
            topic_name(name, sizeof name, i);
            put_topic(&w, version, q->flex, i, name);
            continue;
        }
        if (version >= 10) get_uuid(&q->body, id);
        get_string(&q->body, q->flex, name, sizeof name);
        get_tags(&q->body, q->flex);
        put_topic(&w, version, q->flex, find_topic(name, sizeof name, id), name);
    }
    if (version >= 8 && version <= 10) put32(&w, INT32_MIN);
    put_tags(&w, q->flex);
    if (q->body.bad) { free(w.data); return false; }
    push(c, &w, NULL, 0);
    return true;
}

static bool produce(conn *c, request *q) {
    char transactional_id[250];
    reader *r = &q->body;
    get_string(r, q->flex, transactional_id, sizeof transactional_id);
    int acks = get16(r);
    get32(r);
    int64_t asked = get_count(r, q->flex);
    writer w = response(q);
    put_count(&w, q->flex, asked);
    for (int64_t i = 0; i < asked && !r->bad; i++) {
        char topic[250];
        get_string(r, q->flex, topic, sizeof topic);
        r->bad |= get_count(r, q->flex) != 1;
        put_string(&w, q->flex, topic);
        put_count(&w, q->flex, 1);
        put32(&w, get32(r));
        put16(&w, NONE);
        put64(&w, 0);                       /* base offset */
        put64(&w, -1);                      /* log append time */
        if (q->version >= 5) put64(&w, 0);  /* log start offset */
        if (q->version >= 8) {
            put_count(&w, q->flex, 0);      /* record errors */
            put_string(&w, q->flex, NULL);
        }
        put_tags(&w, q->flex);
        put_tags(&w, q->flex);
        if (asked == 1) break;              /* the rest of its frame may not be here */
        int64_t records = get_count(r, q->flex);
        take(r, records > 0 ? (size_t)records : 0);
        get_tags(r, q->flex);
        get_tags(r, q->flex);
    }
    put32(&w, 0);                           /* throttle time */
    put_tags(&w, q->flex);
    if (r->bad || asked < 1 || acks == 0) { free(w.data); return !r->bad && asked > 0; }
    push(c, &w, NULL, 0);
    return true;
}

/* A batch without its first field, the base offset (which the CRC does not cover), and the tags that follow it. */
static const writer *payload(size_t size) {
    static struct { size_t size; writer batch; } kept[PAYLOADS];
    for (int i = 0; i < PAYLOADS; i++) {
        if (kept[i].size == size) return &kept[i].batch;
        if (kept[i].size) continue;
        kept[i].size = size;
        put_batch(&kept[i].batch, size);
        put_raw(&kept[i].batch, "\0\0\0", 3);
        return &kept[i].batch;
    }
    return NULL;
}

static bool fetch(conn *c, request *q) {
    reader *r = &q->body;
    int version = q->version;
    if (version < 15) get32(r);                         /* replica id */
    take(r, 8);                                         /* max wait, min bytes */
    take(r, 5);                                         /* max bytes, isolation level */
    int session = version >= 7 ? get32(r) : 0;
    if (version >= 7 && get32(r) == 0) session = c->fd; /* epoch 0: a new one */
    int64_t asked = get_count(r, q->flex);
    writer w = response(q);
    put32(&w, 0);                                           /* throttle time */
    if (version >= 7) put16(&w, NONE), put32(&w, session);
    put_count(&w, q->flex, asked);
    for (int64_t i = 0; i < asked; i++) {
        char topic[250] = "";
        uint8_t id[UUID] = {0};
        if (version < 13) get_string(r, q->flex, topic, sizeof topic);
        else get_uuid(r, id);
        r->bad |= get_count(r, q->flex) != 1;
        int partition = get32(r);
        if (version >= 9) get32(r);                         /* current leader epoch */
        int64_t offset = get64(r);
        if (version >= 12) get32(r);                        /* last fetched epoch */
        if (version >= 5) get64(r);                         /* log start offset */
        int max_bytes = get32(r);
        get_tags(r, q->flex);
        get_tags(r, q->flex);
        const writer *batch = r->bad || max_bytes < 1 || max_bytes > 64 << 20 ? NULL : payload((size_t)max_bytes);
        if (!batch) break;
        size_t records = batch->len - 3;

        if (version < 13) put_string(&w, q->flex, topic);
        else put_raw(&w, id, UUID);
        put_count(&w, q->flex, 1);
        put32(&w, partition);
        put16(&w, NONE);
        put64(&w, offset + 1);                              /* high watermark, last stable offset */
        put64(&w, offset + 1);
        if (version >= 5) put64(&w, 0);                     /* log start offset */
        put_count(&w, q->flex, -1);                         /* aborted transactions */
        if (version >= 11) put32(&w, -1);                   /* preferred read replica */
        if (q->flex) put_uvarint(&w, records + 1); else put32(&w, (int64_t)records);
        put64(&w, offset);                                  /* the batch's base offset */
        bool last = i + 1 == asked;                         /* its tags, and those of all, come with it */
        if (last) return push(c, &w, batch->data + 8, batch->len - 8 - (q->flex ? 0 : 3)), true;
        put_raw(&w, batch->data + 8, batch->len - 8 - (q->flex ? 1 : 3));
    }
    free(w.data);
    return false;
}

static bool answer_frame(conn *c) {
    size_t kept = c->size <= sizeof c->head ? c->size : 4 + HEAD;
    request q = {.body = {c->head + 4, c->head + kept, false}};
    char client_id[250];
    q.api = get16(&q.body);
    q.version = get16(&q.body);
    q.correlation_id = get32(&q.body);
    q.flex = flexible(q.api, q.version);
    get_string(&q.body, false, client_id, sizeof client_id);
    get_tags(&q.body, q.flex);
    switch (q.api) {
    case API_VERSIONS: return api_versions(c, &q);
    case METADATA: return metadata(c, &q);
    case PRODUCE: return produce(c, &q);
    case FETCH: return fetch(c, &q);
    }
    return false;
}

/* ---- connections ---- */

static void drop(conn *c) {
    for (; c->count; c->count--, c->first++) free(c->ring[c->first % c->cap].head);
    close(c->fd);
    free(c->ring);
    free(c);
}

static bool flush(conn *c) {
    while (c->count) {
        struct iovec pieces[PIECES * 2];
        size_t skip = c->sent;
        int used = 0;
        for (size_t i = 0; i < c->count && i < PIECES; i++) {
            answer *a = &c->ring[(c->first + i) % c->cap];
            size_t past = skip < a->head_size ? skip : a->head_size;
            if (past < a->head_size) pieces[used++] = (struct iovec){a->head + past, a->head_size - past};
            if (a->body_size) pieces[used++] = (struct iovec){(void *)(a->body + skip - past), a->body_size - (skip - past)};
            skip = 0;
        }
        ssize_t sent = writev(c->fd, pieces, used);
        if (sent < 0 && would_block()) break;
        if (sent < 0) return false;
        for (c->sent += (size_t)sent; c->count; c->count--, c->first = (c->first + 1) % c->cap) {
            answer *a = &c->ring[c->first];
            if (c->sent < a->head_size + a->body_size) break;
            c->sent -= a->head_size + a->body_size;
            free(a->head);
        }
    }
    if (c->full != (c->count > 0)) watch(epoll, c->fd, c, c->full = c->count > 0, EPOLL_CTL_MOD);
    return true;
}

static bool consume(conn *c, const uint8_t *data, size_t size) {
    while (size) {
        size_t want = c->size ? c->size - c->got : 4 - c->got;
        size_t step = want < size ? want : size;
        size_t kept = c->size <= sizeof c->head ? sizeof c->head : 4 + HEAD;
        if (c->got < kept) {
            size_t room = kept - c->got;
            memcpy(c->head + c->got, data, step < room ? step : room);
        }
        c->got += step, data += step, size -= step;
        if (!c->size && c->got == 4) {
            c->size = 4 + load_uint(c->head, 4);
            if (c->size < 12 || c->size > 128u << 20) return false;
        } else if (c->got == c->size) {
            if (!answer_frame(c) || !flush(c)) return false;
            c->got = c->size = 0;
        }
    }
    return true;
}

static bool serve(conn *c, uint32_t events) {
    static uint8_t buffer[RECEIVE_BUFFER];
    if (events & EPOLLOUT && !flush(c)) return false;
    if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR))) return true;
    ssize_t got = recv(c->fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0) return would_block();
    if (got == 0) return false;
    if (!consume(c, buffer, (size_t)got)) {
        fprintf(stderr, "broker: a request that cannot be answered (api %d)\n", (int)load_uint(c->head + 4, 2));
        return false;
    }
    return true;
}

static void welcome(int listener) {
    int fd;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        conn *c = need(calloc(1, sizeof *c));
        c->fd = fd;
        watch(epoll, fd, c, false, EPOLL_CTL_ADD);
    }
}

static void open_listener(int node) {
    struct sockaddr_in address = address_of("127.0.0.1", 0);
    socklen_t size = sizeof address;
    int fd = tcp_socket();
    if (bind(fd, (struct sockaddr *)&address, size) || listen(fd, 1024)) die("listen: %s", strerror(errno));
    getsockname(fd, (struct sockaddr *)&address, &size);
    set_nonblocking(fd);
    nodes[node].listener = fd;
    printf(" %d", ntohs(address.sin_port));
    if (nodes[node].port) return;                       /* --advertise gave it another face */
    snprintf(nodes[node].host, sizeof nodes[node].host, "127.0.0.1");
    nodes[node].port = ntohs(address.sin_port);
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"brokers", required_argument, NULL, 'b'}, {"topics", required_argument, NULL, 't'},
        {"partitions", required_argument, NULL, 'p'}, {"advertise", required_argument, NULL, 'a'}, {0},
    };
    int advertised = 0;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) switch (option) {
        case 'b': brokers = atoi(optarg); break;
        case 't': topics = atoi(optarg); break;
        case 'p': partitions = atoi(optarg); break;
        case 'a':
            if (advertised == MOST_BROKERS || sscanf(optarg, "%63[^:]:%d", nodes[advertised].host, &nodes[advertised].port) != 2)
                die("--advertise %s: should be HOST:PORT, once for each broker", optarg);
            advertised++;
            break;
        default: die("usage: broker [--brokers N] [--topics N] [--partitions N] [--advertise HOST:PORT]...");
    }
    if (brokers < 1 || brokers > MOST_BROKERS) die("--brokers: 1 to %d", MOST_BROKERS);

    epoll = new_epoll();
    printf("ports");
    for (int i = 0; i < brokers; i++) {
        open_listener(i);
        watch(epoll, nodes[i].listener, &nodes[i], false, EPOLL_CTL_ADD);
    }
    printf("\n");
    fflush(stdout);
    for (;;) {
        struct epoll_event events[256];
        int ready = epoll_wait(epoll, events, 256, -1);
        for (int i = 0; i < ready; i++) {
            void *owner = events[i].data.ptr;
            if (owner >= (void *)nodes && owner < (void *)(nodes + MOST_BROKERS))
                welcome(nodes[(typeof(&nodes[0]))owner - nodes].listener);
            else if (!serve(owner, events[i].events))
                drop(owner);
        }
    }
}
