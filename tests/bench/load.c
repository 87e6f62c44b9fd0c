/* load.c: clients of a Kafka cluster that ask, check every answer, and measure.
 *
 * It bootstraps as a client does: ApiVersions, then Metadata, then one connection after the other to the address that
 * the leader of its partition advertises. Its rules:
 *   - answers come in the order of their questions, with their correlation ids, or the run fails;
 *   - the first answer of a connection, and each that fits into one read, is read to its end: error codes, and the CRC
 *     of the batches; of the others the head is checked;
 *   - closed loop: `--inflight` requests are under way on every connection, a new one for each answer;
 *   - open loop, with `--rate`: requests fall due by the clock, and latency counts from that moment, so that a pause is
 *     felt by everything that fell due in it;
 *   - what is answered before the end of the warm-up is not counted;
 *   - with `--topics` a request is about so many topics; with `--vary` a connection has so many requests, which it sends in
 *     turn: records of other sizes and other offsets, as from a real client; with `--mixed 1` each begins with another topic;
 *   - `--session 1`: each connection fetches in a session (KIP-227), as consumers of Java do;
 *   - `--tls 1`, where it is built with -DTLS: all of this sealed. `--anew 1`: a new connection for every request, whose
 *     latency has the handshake in it; `--resume 1`: each takes up the same session, or the run fails.
 * One line of JSON is the result. Exit code 1 and one line on standard error: something was wrong, and what.
 */
#include "wire.h"
#include <getopt.h>
#include <sys/timerfd.h>
#ifdef TLS
#include "tls.h"
#endif

enum { MOST_NODES = 64, MOST_TOPICS = 256, MOST_TURNS = 64, SUB = 32, BUCKETS = 64 * SUB, OPEN_LOOP_RING = 1 << 16 };

static struct {
    const char *host, *api_name, *topic;
    int port, api, version, topics, vary, mixed, connections, inflight, rate;
    size_t size;
    double seconds, warmup;
    uint64_t requests;
    bool session, tls, anew, resume;
} ask = {"127.0.0.1", "produce", "bench-0", 0, PRODUCE, -1, 1, 1, 0, 1, 1, 0, 100, 2, 0.3, UINT64_MAX, false, false, false, false};

static const struct { const char *name; int api, version; } APIS[] = {
    {"produce", PRODUCE, 11}, {"fetch", FETCH, 17}, {"metadata", METADATA, 12}, {"apiversions", API_VERSIONS, 4},
};

typedef struct {
    wire wire;
    int index, node;
    bool full;
    writer frames[MOST_TURNS], *frame;  /* the requests, and the one of which `out` bytes are sent */
    size_t out;
    uint32_t epoch;                     /* of the session, in the request that was sent last */
    int64_t *due;                       /* when request n fell due: due[n & mask] */
    uint64_t mask, fallen_due, asked, answered;
    uint8_t head[8];                    /* of the answer that is arriving */
    size_t got, size;                   /* bytes of it that arrived; its length with the size, 0 while unknown */
    uint8_t *whole;                     /* the first answer, to be read to its end */
} conn;

static int epoll;
static int64_t now, begin, end;         /* nanoseconds; what is measured lies between the last two */
static bool stopping;
static uint64_t open_requests, all_requests, all_bytes, counted, counted_bytes, slowest, histogram[BUCKETS];

static int64_t read_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- latencies: SUB buckets for every power of two, so within 3 % ---- */

static unsigned bucket(uint64_t ns) {
    if (ns < SUB) return (unsigned)ns;
    int shift = 63 - __builtin_clzll(ns) - 5;
    return (unsigned)((shift + 1) * SUB + (ns >> shift) - SUB);
}

static double quantile(double q) {
    uint64_t seen = 0, wanted = (uint64_t)(q * (double)counted);
    for (unsigned i = 0; i < BUCKETS; i++)
        if ((seen += histogram[i]) > wanted) return i < SUB ? i : (double)((uint64_t)(i % SUB + SUB) << (i / SUB - 1));
    return (double)slowest;
}

/* ---- requests ---- */

/* The topic of this index that a request is about; with --topics there are several, and they have the brokers' names. */
static const char *topic_name(int index) {
    static char name[32];
    if (ask.topics == 1) return ask.topic;
    snprintf(name, sizeof name, "bench-%d", index);
    return name;
}

static writer request(int api, int version) {
    writer w = {0};
    bool flex = flexible(api, version);
    put32(&w, 0);
    put16(&w, api);
    put16(&w, version);
    put32(&w, 0);                       /* correlation id: patched in as each one leaves */
    put_string(&w, false, "bench");
    put_tags(&w, flex);
    return w;
}

static writer api_versions_request(void) {
    writer w = request(API_VERSIONS, 4);
    put_string(&w, true, "doorkeeper-bench");
    put_string(&w, true, "1");
    put_tags(&w, true);
    end_frame(&w, 0);
    return w;
}

static writer metadata_request(int topics) {            /* -1: all there are */
    writer w = request(METADATA, 12);
    uint8_t no_id[UUID] = {0};
    put_count(&w, true, topics);
    for (int i = 0; i < topics; i++) {
        put_raw(&w, no_id, UUID);
        put_string(&w, true, topic_name(i));
        put_tags(&w, true);
    }
    put8(&w, 0);                        /* allow auto topic creation */
    put8(&w, 0);                        /* include topic authorized operations */
    put_tags(&w, true);
    end_frame(&w, 0);
    return w;
}

static writer produce_request(int partition, int turn) {
    writer w = request(PRODUCE, ask.version);
    put_string(&w, true, NULL);         /* transactional id */
    put16(&w, 1);                       /* acks */
    put32(&w, 30000);                   /* timeout */
    put_count(&w, true, ask.topics);
    for (int i = 0; i < ask.topics; i++) {
        writer batch = {0};
        put_batch(&batch, ask.size + (size_t)(turn * 31 + i * 17) % (turn ? ask.size / 4 + 1 : 1));
        put_string(&w, true, topic_name((i + turn * 7 * ask.mixed) % ask.topics));
        put_count(&w, true, 1);
        put32(&w, partition);
        put_uvarint(&w, batch.len + 1);
        put_raw(&w, batch.data, batch.len);
        put_raw(&w, "\0\0", 2);         /* tags of partition and topic */
        free(batch.data);
    }
    put_tags(&w, true);
    end_frame(&w, 0);
    return w;
}

static size_t session_at;               /* where the id and the epoch of its session stand in a Fetch request */

static writer fetch_request(int partition, int turn, const uint8_t (*topic_ids)[UUID]) {
    writer w = request(FETCH, ask.version);
    put32(&w, 500);                     /* max wait */
    put32(&w, 1);                       /* min bytes */
    put32(&w, 64 << 20);                /* max bytes */
    put8(&w, 0);                        /* read uncommitted */
    session_at = w.len;
    put32(&w, 0);                       /* no session, or a new one */
    put32(&w, ask.session ? 0 : -1);
    put_count(&w, true, ask.topics);
    for (int i = 0; i < ask.topics; i++) {
        put_raw(&w, topic_ids[(i + turn * 7 * ask.mixed) % ask.topics], UUID);
        put_count(&w, true, 1);
        put32(&w, partition);
        put32(&w, -1);                  /* current leader epoch */
        put64(&w, turn * 1000 + i);     /* fetch offset */
        put32(&w, -1);                  /* last fetched epoch */
        put64(&w, -1);                  /* log start offset */
        put32(&w, (int64_t)ask.size);   /* max bytes of the partition */
        put_raw(&w, "\0\0", 2);         /* tags of partition and topic */
    }
    put_count(&w, true, 0);             /* forgotten topics */
    put_string(&w, true, "");           /* rack */
    put_tags(&w, true);
    end_frame(&w, 0);
    return w;
}

/* ---- answers ---- */

static void check_error(int code) { if (code) die("the broker answered %s with error code %d", ask.api_name, code); }

static void check_produce(reader *r) {
    char topic[250], message[250];
    if (get_count(r, true) != ask.topics) r->bad = true;
    for (int i = 0; i < ask.topics && !r->bad; i++) {
        get_string(r, true, topic, sizeof topic);
        get_count(r, true);
        get32(r);
        check_error(get16(r));
        take(r, 24);                    /* base offset, append time, log start offset */
        if (get_count(r, true)) r->bad = true;  /* record errors */
        get_string(r, true, message, sizeof message);
        get_tags(r, true), get_tags(r, true);
        if (!ask.mixed && strcmp(topic, topic_name(i))) r->bad = true;
    }
}

static void check_fetch(reader *r) {
    get32(r);                           /* throttle time */
    check_error(get16(r));
    get32(r);                           /* session */
    if (get_count(r, true) != ask.topics) r->bad = true;
    for (int i = 0; i < ask.topics && !r->bad; i++) {
        take(r, UUID);
        get_count(r, true);
        get32(r);
        check_error(get16(r));
        take(r, 24);                    /* high watermark, last stable and log start offset */
        for (int64_t aborted = get_count(r, true); aborted > 0 && !r->bad; aborted--) take(r, 16), get_tags(r, true);
        get32(r);                       /* preferred read replica */
        int64_t size = get_count(r, true);
        const uint8_t *batch = take(r, size > 0 ? (size_t)size : 0);
        if (r->bad || size < BATCH_HEAD) die("a fetch brought no records");
        const char *problem = batch_problem(batch, 12 + (size_t)load_uint(batch + 8, 4) > (size_t)size
                                            ? (size_t)size : 12 + (size_t)load_uint(batch + 8, 4));
        if (problem) die("%s", problem);
        get_tags(r, true), get_tags(r, true);
    }
}

static void check_answer(const uint8_t *frame, size_t size) {
    reader r = {frame + 8, frame + size, false};
    get_tags(&r, ask.api != API_VERSIONS);
    if (ask.api == PRODUCE) check_produce(&r);
    if (ask.api == FETCH) check_fetch(&r);
    if (ask.api == METADATA) get32(&r), r.bad |= get_count(&r, true) < 1;
    if (ask.api == API_VERSIONS) check_error(get16(&r));
    if (r.bad) die("an answer to %s v%d cannot be read", ask.api_name, ask.version);
}

/* ---- bootstrap, blocking ---- */

static struct { int id, port; char host[256]; } nodes[MOST_NODES];
static int known_nodes, leaders[4096], partitions;
static uint8_t topic_ids[MOST_TOPICS][UUID];

static wire dial(const char *host, int port) {
    struct sockaddr_in address = address_of(host, port);
    struct timeval patience = {10, 0};
    int fd = tcp_socket();
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) die("connect to %s:%d: %s", host, port, strerror(errno));
    wire w = {.fd = fd};
    transport->open(&w);
    return w;
}

static void receive_exactly(wire *from, uint8_t *into, size_t size) {
    while (size) {
        ssize_t got = transport->receive(from, into, size);
        if (got <= 0) die("bootstrap: %s", got < 0 ? strerror(errno) : "the connection was closed");
        into += got, size -= (size_t)got;
    }
}

/* The answer's body, in memory that is the caller's; its header has tags unless it answers ApiVersions. */
static reader call(wire *to, writer w, int correlation_id, bool tags) {
    uint8_t head[8];
    store(w.data + 8, (uint64_t)correlation_id, 4);
    if (transport->send(to, w.data, w.len) != (ssize_t)w.len) die("bootstrap: %s", strerror(errno));
    free(w.data);
    receive_exactly(to, head, 8);
    size_t size = load_uint(head, 4);
    if (size < 4 || size > 64 << 20) die("bootstrap: an answer of %zu bytes", size);
    if ((int)load_uint(head + 4, 4) != correlation_id) die("bootstrap: a wrong correlation id");
    uint8_t *body = need(malloc(size));
    receive_exactly(to, body, size - 4);
    reader r = {body, body + size - 4, false};
    get_tags(&r, tags);
    return r;
}

static void negotiate(wire *with) {
    reader r = call(with, api_versions_request(), 1, false);
    check_error(get16(&r));
    bool spoken = false;
    for (int64_t left = get_count(&r, true); left > 0 && !r.bad; left--) {
        int api = get16(&r), min = get16(&r), max = get16(&r);
        get_tags(&r, true);
        if (api == ask.api && min <= ask.version) spoken = max >= ask.version;
    }
    if (!spoken || r.bad) die("%s v%d is not spoken here", ask.api_name, ask.version);
}

static void discover(wire *with) {
    reader r = call(with, metadata_request(ask.topics), 2, true);
    get32(&r);
    known_nodes = (int)get_count(&r, true);
    if (known_nodes < 1 || known_nodes > MOST_NODES) die("bootstrap: %d brokers", known_nodes);
    for (int i = 0; i < known_nodes; i++) {
        char rack[250];
        nodes[i].id = get32(&r);
        get_string(&r, true, nodes[i].host, sizeof nodes[i].host);
        nodes[i].port = get32(&r);
        get_string(&r, true, rack, sizeof rack);
        get_tags(&r, true);
    }
    char text[250];
    get_string(&r, true, text, sizeof text);
    get32(&r);                          /* controller */
    if (get_count(&r, true) != ask.topics) die("bootstrap: asked for %d topics, got another number", ask.topics);
    for (int topic = 0; topic < ask.topics && !r.bad; topic++) {
        int code = get16(&r);
        if (code) die("bootstrap: topic %s: error code %d", topic_name(topic), code);
        get_string(&r, true, text, sizeof text);
        if (strcmp(text, topic_name(topic))) die("bootstrap: asked for topic %s, got %s", topic_name(topic), text);
        get_uuid(&r, topic_ids[topic]);
        get8(&r);
        partitions = (int)get_count(&r, true);
        if (partitions < 1 || partitions > 4096) die("bootstrap: topic %s has %d partitions", text, partitions);
        for (int i = 0; i < partitions && !r.bad; i++) {    /* led as those of the other topics are */
            get16(&r);
            int partition = get32(&r), leader = get32(&r);
            if (partition < 0 || partition >= partitions) die("bootstrap: partition %d of %d", partition, partitions);
            leaders[partition] = leader;
            get32(&r);
            for (int list = 0; list < 3; list++)
                for (int64_t left = get_count(&r, true); left > 0 && !r.bad; left--) get32(&r);
            get_tags(&r, true);
        }
        get32(&r);                      /* authorized operations */
        get_tags(&r, true);
    }
    if (r.bad) die("bootstrap: the Metadata answer cannot be read");
}

/* Begins a session about what the requests of this connection are about, which are all in it from now on. */
static void begin_session(conn *c, int partition) {
    reader r = call(&c->wire, fetch_request(partition, 0, topic_ids), 3, true);
    get32(&r);                          /* throttle time */
    check_error(get16(&r));
    int session = get32(&r);
    if (r.bad || !session) die("bootstrap: the broker began no session");
    for (int turn = 0; turn < ask.vary; turn++) store(c->frames[turn].data + session_at, (uint64_t)session, 4);
}

static void connect_to(conn *c, bool negotiated) {
    c->wire = dial(nodes[c->node].host, nodes[c->node].port);
    if (negotiated) negotiate(&c->wire);
    if (ask.session) begin_session(c, c->index % partitions);
    set_nonblocking(c->wire.fd);
    watch(epoll, c->wire.fd, c, c->full = false, EPOLL_CTL_ADD);
}

static void open_conn(conn *c, int index) {
    int partition = index % partitions, node = 0;
    while (node < known_nodes && nodes[node].id != leaders[partition]) node++;
    if (node == known_nodes) die("bootstrap: partition %d has no leader among the brokers", partition);
    c->index = index;
    c->node = node;
    for (int turn = 0; turn < ask.vary; turn++)
        c->frames[turn] = ask.api == PRODUCE ? produce_request(partition, turn)
                        : ask.api == FETCH ? fetch_request(partition, turn, topic_ids)
                        : ask.api == METADATA ? metadata_request(-1) : api_versions_request();
    connect_to(c, true);
    size_t ring = ask.rate ? OPEN_LOOP_RING : 1;
    while (ring < (size_t)ask.inflight) ring *= 2;
    c->due = need(calloc(ring, sizeof *c->due));
    c->mask = ring - 1;
    c->frame = &c->frames[0];
    c->out = c->frame->len;
}

/* ---- the run ---- */

/* Each connection counts from a place of its own, so that an answer on the wrong one is noticed. */
static uint32_t correlation_id(const conn *c, uint64_t n) { return ((uint32_t)c->index << 18 ^ (uint32_t)n) & INT32_MAX; }

static bool wanted(void) {
    if (all_requests + open_requests >= ask.requests) stopping = true;
    return !stopping;
}

static void fall_due(conn *c, int64_t when) {
    if (c->fallen_due - c->answered > c->mask) die("the rate cannot be kept: %d requests wait on one connection", OPEN_LOOP_RING);
    c->due[c->fallen_due++ & c->mask] = when;
    open_requests++;
}

/* Every request is a send of its own, as with real clients. */
static void flush(conn *c) {
    bool full = false;
    while (!full) {
        if (c->out == c->frame->len) {
            if (c->asked == c->fallen_due || c->asked - c->answered == (uint64_t)ask.inflight) break;
            c->frame = &c->frames[c->asked % (uint64_t)ask.vary];
            store(c->frame->data + 8, correlation_id(c, c->asked++), 4);
            if (ask.session) store(c->frame->data + session_at + 4, ++c->epoch & INT32_MAX, 4);
            c->out = 0;
        }
        ssize_t sent = transport->send(&c->wire, c->frame->data + c->out, c->frame->len - c->out);
        if (sent < 0 && !would_block()) die("send: %s", strerror(errno));
        if (sent > 0) c->out += (size_t)sent;
        if (sent < 0 && !c->wire.wants_room) break;     /* the handshake goes on with what arrives */
        full = sent < 0;
    }
    if (full != c->full) watch(epoll, c->wire.fd, c, c->full = full, EPOLL_CTL_MOD);
}

static void answered(conn *c) {
    uint64_t size = c->size + c->frames[c->answered % (uint64_t)ask.vary].len, took = (uint64_t)(now - c->due[c->answered++ & c->mask]);
    open_requests--, all_requests++, all_bytes += size;
    if (now >= begin && now < end) {
        counted++, counted_bytes += size, histogram[bucket(took)]++;
        if (took > slowest) slowest = took;
    }
    c->got = c->size = 0;
    if (ask.rate || !wanted()) return;
    fall_due(c, now);
    if (!ask.anew) return;
    transport->close(&c->wire);
    if (c->wire.refused) die("a session was not taken up again");
    connect_to(c, false);
}

static void consume(conn *c, const uint8_t *data, size_t size) {
    while (size) {
        size_t want = c->size ? c->size - c->got : 8 - c->got, step = want < size ? want : size;
        if (c->got < 8) memcpy(c->head + c->got, data, step);
        if (c->whole) memcpy(c->whole + c->got, data, step);
        c->got += step, data += step, size -= step;
        if (!c->size && c->got == 8) {
            c->size = 4 + load_uint(c->head, 4);
            if (c->size < 8 || c->size > 128u << 20) die("an answer of %zu bytes", c->size);
            if (c->asked == c->answered) die("an answer that nobody asked for");
            uint32_t got = (uint32_t)load_uint(c->head + 4, 4), expected = correlation_id(c, c->answered);
            if (got != expected) die("correlation id %u where %u was due: an answer out of order", got, expected);
            if (c->size <= 8 + size) check_answer(data - 8, c->size);
            else if (!c->answered) memcpy(c->whole = need(malloc(c->size)), c->head, 8);
        }
        if (c->size && c->got == c->size) {
            if (c->whole) check_answer(c->whole, c->size);
            free(c->whole);
            c->whole = NULL;
            answered(c);
        }
    }
}

static void serve(conn *c, uint32_t events) {
    static uint8_t before[RECEIVE_BUFFER + 8], *buffer = before + 8;    /* room to put a head before the rest of its frame */
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
        do {
            ssize_t got = transport->receive(&c->wire, buffer, RECEIVE_BUFFER);
            if (got < 0 && !would_block()) die("receive: %s", strerror(errno));
            if (got == 0) die("connection %d was closed with %d requests under way", c->index, (int)(c->asked - c->answered));
            if (got > 0) now = read_clock(), consume(c, buffer, (size_t)got);
        } while (c->wire.more);
    }
    flush(c);
}

static void run(conn *conns) {
    int64_t start = now = read_clock(), heard = now, period = ask.rate ? 1000000000 / ask.rate : 0, next = now;
    uint64_t turn = 0, before = 0;
    begin = now + (int64_t)(ask.warmup * 1e9);
    end = begin + (int64_t)(ask.seconds * 1e9);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    struct itimerspec spec = {{0, period ? period % 1000000000 : 100000000}, {0, 1}};
    timerfd_settime(timer, 0, &spec, NULL);
    watch(epoll, timer, NULL, false, EPOLL_CTL_ADD);
    for (int i = 0; i < ask.connections && !ask.rate; i++) {
        for (int j = 0; j < ask.inflight && wanted(); j++) fall_due(&conns[i], now);
        flush(&conns[i]);
    }
    while (!stopping || open_requests) {
        struct epoll_event events[256];
        int ready = epoll_wait(epoll, events, 256, 1000);
        for (int i = 0; i < ready; i++) {
            uint64_t ticks;
            if (events[i].data.ptr) serve(events[i].data.ptr, events[i].events);
            else if (read(timer, &ticks, 8) == 8) now = read_clock();
        }
        for (; ask.rate && next <= now && wanted(); next += period) {
            conn *c = &conns[turn++ % (uint64_t)ask.connections];
            fall_due(c, next);
            flush(c);
        }
        if (now >= end) stopping = true;
        if (all_requests != before) before = all_requests, heard = now;
        else if ((now = read_clock()) - heard > 10000000000) die("no answer for 10 s, %d requests under way", (int)open_requests);
    }
    if (end > now) end = now;           /* --requests was reached before the time was up */
    if (begin > end) begin = start;
}

static void report(void) {
    double seconds = (double)(end - begin) / 1e9;
    printf("{\"api\": \"%s\", \"version\": %d, \"requests\": %lu, \"seconds\": %.6f, \"requests_per_s\": %.1f, \"mb_per_s\": %.2f, "
           "\"p50_us\": %.1f, \"p99_us\": %.1f, \"max_us\": %.1f, \"all_requests\": %lu, \"all_bytes\": %lu}\n",
           ask.api_name, ask.version, counted, seconds, (double)counted / seconds, (double)counted_bytes / 1e6 / seconds,
           quantile(0.5) / 1e3, quantile(0.99) / 1e3, (double)slowest / 1e3, all_requests, all_bytes);
}

static void read_options(int argc, char **argv) {
    static const struct option options[] = {
        {"host", required_argument, NULL, 'h'}, {"port", required_argument, NULL, 'p'}, {"api", required_argument, NULL, 'a'},
        {"version", required_argument, NULL, 'v'}, {"topic", required_argument, NULL, 't'}, {"topics", required_argument, NULL, 'm'}, {"vary", required_argument, NULL, 'y'}, {"mixed", required_argument, NULL, 'x'}, {"size", required_argument, NULL, 'z'},
        {"connections", required_argument, NULL, 'c'}, {"inflight", required_argument, NULL, 'i'}, {"rate", required_argument, NULL, 'r'},
        {"seconds", required_argument, NULL, 's'}, {"warmup", required_argument, NULL, 'w'}, {"requests", required_argument, NULL, 'n'}, {"session", required_argument, NULL, 'S'},
        {"tls", required_argument, NULL, 'T'}, {"anew", required_argument, NULL, 'N'}, {"resume", required_argument, NULL, 'R'}, {0},
    };
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) switch (option) {
        case 'h': ask.host = optarg; break;
        case 'p': ask.port = atoi(optarg); break;
        case 'a': ask.api_name = optarg; break;
        case 'v': ask.version = atoi(optarg); break;
        case 't': ask.topic = optarg; break;
        case 'm': ask.topics = atoi(optarg); break;
        case 'y': ask.vary = atoi(optarg); break;
        case 'x': ask.mixed = atoi(optarg) != 0; break;
        case 'z': ask.size = (size_t)atol(optarg); break;
        case 'c': ask.connections = atoi(optarg); break;
        case 'i': ask.inflight = atoi(optarg); break;
        case 'r': ask.rate = atoi(optarg); break;
        case 's': ask.seconds = atof(optarg); break;
        case 'w': ask.warmup = atof(optarg); break;
        case 'n': ask.requests = (uint64_t)atol(optarg); break;
        case 'S': ask.session = atoi(optarg) != 0; break;
        case 'T': ask.tls = atoi(optarg); break;
        case 'N': ask.anew = atoi(optarg); break;
        case 'R': ask.resume = atoi(optarg); break;
        default: die("usage: load --port PORT [--host IP] [--api produce|fetch|metadata|apiversions] [--version N] [--topic NAME | --topics N] [--vary N] [--mixed 0|1] [--size BYTES]\n"
                     "            [--connections N] [--inflight N] [--rate PER_SECOND] [--seconds S] [--warmup S] [--requests N]\n"
                     "            [--session 0|1] [--tls 0|1] [--anew 0|1] [--resume 0|1]");
    }
    size_t api = 0;
    while (api < 4 && strcmp(APIS[api].name, ask.api_name)) api++;
    if (api == 4) die("--api %s: should be produce, fetch, metadata or apiversions", ask.api_name);
    ask.api = APIS[api].api;
    if (ask.version < 0) ask.version = APIS[api].version;
    if (ask.version != APIS[api].version && (ask.api != PRODUCE || ask.version < 9 || ask.version > 11))
        die("--version %d: Produce has 9 to 11, the other APIs only their default", ask.version);
    if (ask.topics < 1 || ask.topics > MOST_TOPICS) die("--topics: 1 to %d", MOST_TOPICS);
    if (ask.vary < 1 || ask.vary > MOST_TURNS) die("--vary: 1 to %d", MOST_TURNS);
    if (ask.connections < 1 || ask.inflight < 1 || ask.inflight > 1 << 15) die("--connections and --inflight: at least 1");
    if (ask.session && (ask.api != FETCH || ask.anew)) die("--session: is of Fetch, and lasts as long as its connection");
    if (ask.anew && (ask.inflight > 1 || ask.rate)) die("--anew: has one request under way on a connection");
#ifdef TLS
    if (ask.tls) tls_begin();
#else
    if (ask.tls) die("--tls: this program was built without it");
#endif
}

int main(int argc, char **argv) {
    read_options(argc, argv);
    epoll = new_epoll();
    wire bootstrap = dial(ask.host, ask.port);
    negotiate(&bootstrap);
    discover(&bootstrap);
    transport->close(&bootstrap);
#ifdef TLS
    tls.resume = ask.resume;            /* of a port of its own, a server need not take up a session again */
#endif
    conn *conns = need(calloc((size_t)ask.connections, sizeof *conns));
    for (int i = 0; i < ask.connections; i++) open_conn(&conns[i], i);
    run(conns);
    report();
}
