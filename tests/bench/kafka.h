/* kafka.h: what the load generator and the dummy broker share of Kafka's protocol.
 *
 * A writer that grows, a reader that never passes its end, strings and arrays in both encodings (`flex`: the compact
 * one of flexible versions, with tagged fields), and record batches of format v2 with a true CRC-32C.
 * Numbers are big-endian, as on the wire.
 */
#ifndef KAFKA_H
#define KAFKA_H

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PRODUCE = 0, FETCH = 1, METADATA = 3, API_VERSIONS = 18 };
enum { NONE = 0, UNKNOWN_TOPIC_OR_PARTITION = 3, UNSUPPORTED_VERSION = 35 };
enum { RECEIVE_BUFFER = 256 << 10, BATCH_HEAD = 61, UUID = 16 };

static inline void die(const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    vfprintf(stderr, format, rest);
    va_end(rest);
    fputc('\n', stderr);
    exit(1);
}

static inline void *need(void *memory) {
    if (!memory) die("out of memory");
    return memory;
}

/* Whether this version uses compact encodings and tagged fields; the request header follows it. */
static inline bool flexible(int api, int version) {
    switch (api) {
    case PRODUCE: case METADATA: return version >= 9;
    case FETCH: return version >= 12;
    case API_VERSIONS: return version >= 3;
    }
    return true;
}

/* ---- writing ---- */

typedef struct { uint8_t *data; size_t len, cap; } writer;

static inline uint8_t *grow(writer *w, size_t more) {
    if (w->len + more > w->cap) {
        w->cap = (w->len + more) * 2;
        w->data = need(realloc(w->data, w->cap));
    }
    w->len += more;
    return w->data + w->len - more;
}

static inline void store(uint8_t *to, uint64_t value, int size) {
    for (int i = size - 1; i >= 0; i--, value >>= 8) to[i] = (uint8_t)value;
}

static inline void put(writer *w, int64_t value, int size) { store(grow(w, (size_t)size), (uint64_t)value, size); }
static inline void put8(writer *w, int64_t value) { put(w, value, 1); }
static inline void put16(writer *w, int64_t value) { put(w, value, 2); }
static inline void put32(writer *w, int64_t value) { put(w, value, 4); }
static inline void put64(writer *w, int64_t value) { put(w, value, 8); }
static inline void put_raw(writer *w, const void *data, size_t size) { if (size) memcpy(grow(w, size), data, size); }

static inline void put_uvarint(writer *w, uint64_t value) {
    for (; value > 127; value >>= 7) put8(w, (int64_t)(value & 127) | 128);
    put8(w, (int64_t)value);
}

static inline void put_varint(writer *w, int64_t value) {
    put_uvarint(w, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

static inline void put_count(writer *w, bool flex, int64_t count) {
    if (flex) put_uvarint(w, (uint64_t)(count + 1)); else put32(w, count);
}

static inline void put_string(writer *w, bool flex, const char *text) {   /* NULL is Kafka's null */
    size_t size = text ? strlen(text) : 0;
    if (flex) put_uvarint(w, text ? size + 1 : 0); else put16(w, text ? (int64_t)size : -1);
    put_raw(w, text, size);
}

static inline void put_tags(writer *w, bool flex) { if (flex) put8(w, 0); }

/* Frames are written behind four bytes that `end_frame` fills with the size. */
static inline void end_frame(writer *w, size_t body_elsewhere) {
    store(w->data, w->len - 4 + body_elsewhere, 4);
}

/* ---- reading ---- */

typedef struct { const uint8_t *at, *end; bool bad; } reader;

static inline const uint8_t *take(reader *r, size_t size) {
    static const uint8_t nothing[UUID];
    if (r->bad || (size_t)(r->end - r->at) < size) { r->bad = true; return nothing; }
    r->at += size;
    return r->at - size;
}

static inline uint64_t load_uint(const uint8_t *from, int size) {
    uint64_t value = 0;
    for (int i = 0; i < size; i++) value = value << 8 | from[i];
    return value;
}

static inline int8_t get8(reader *r) { return (int8_t)*take(r, 1); }
static inline int16_t get16(reader *r) { return (int16_t)load_uint(take(r, 2), 2); }
static inline int32_t get32(reader *r) { return (int32_t)load_uint(take(r, 4), 4); }
static inline int64_t get64(reader *r) { return (int64_t)load_uint(take(r, 8), 8); }

static inline void get_uuid(reader *r, uint8_t id[UUID]) { memcpy(id, take(r, UUID), UUID); }

static inline uint64_t get_uvarint(reader *r) {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        uint8_t byte = *take(r, 1);
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return value;
    }
    r->bad = true;
    return 0;
}

static inline int64_t get_count(reader *r, bool flex) {   /* -1 is null */
    return flex ? (int64_t)get_uvarint(r) - 1 : get32(r);
}

/* A string of at most `room - 1` bytes, ended with a zero; a null string reads as "". */
static inline void get_string(reader *r, bool flex, char *into, size_t room) {
    int64_t size = flex ? (int64_t)get_uvarint(r) - 1 : get16(r);
    if (size >= (int64_t)room) r->bad = true;
    if (size > 0 && !r->bad) {
        const uint8_t *from = take(r, (size_t)size);
        if (!r->bad) memcpy(into, from, (size_t)size);
    }
    into[size > 0 && !r->bad ? size : 0] = 0;
}

static inline void get_tags(reader *r, bool flex) {
    for (uint64_t left = flex ? get_uvarint(r) : 0; left && !r->bad; left--) {
        get_uvarint(r);
        take(r, get_uvarint(r));
    }
}

/* ---- record batches ---- */

static inline uint32_t crc32c(const uint8_t *data, size_t size) {
    static uint32_t table[256];
    if (!table[1])
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t c = i;
            for (int bit = 0; bit < 8; bit++) c = c & 1 ? c >> 1 ^ 0x82F63B78u : c >> 1;
            table[i] = c;
        }
    uint32_t crc = ~0u;
    while (size--) crc = crc >> 8 ^ table[(crc ^ *data++) & 255];
    return ~crc;
}

/* One batch of one record, whose value has `size` bytes. */
static inline void put_batch(writer *w, size_t size) {
    writer record = {0};
    put8(&record, 0);                   /* attributes */
    put_varint(&record, 0);             /* timestamp delta */
    put_varint(&record, 0);             /* offset delta */
    put_varint(&record, -1);            /* no key */
    put_varint(&record, (int64_t)size);
    uint8_t *value = grow(&record, size);
    for (size_t i = 0; i < size; i++) value[i] = (uint8_t)('a' + i % 26);
    put_varint(&record, 0);             /* no headers */

    size_t start = w->len;
    int64_t now = (int64_t)time(NULL) * 1000;
    put64(w, 0);                        /* base offset */
    put32(w, 0);                        /* batch length */
    put32(w, -1);                       /* partition leader epoch */
    put8(w, 2);                         /* magic */
    put32(w, 0);                        /* CRC of everything after it */
    put16(w, 0);                        /* attributes */
    put32(w, 0);                        /* last offset delta */
    put64(w, now);
    put64(w, now);
    put64(w, -1);                       /* producer id, epoch, base sequence */
    put16(w, -1);
    put32(w, -1);
    put32(w, 1);                        /* records */
    put_varint(w, (int64_t)record.len);
    put_raw(w, record.data, record.len);
    free(record.data);

    uint8_t *batch = w->data + start;
    size_t length = w->len - start;
    store(batch + 8, length - 12, 4);
    store(batch + 17, crc32c(batch + 21, length - 21), 4);
}

/* NULL, or what is wrong with one whole batch. */
static inline const char *batch_problem(const uint8_t *batch, size_t size) {
    if (size < BATCH_HEAD) return "a record batch is shorter than its head";
    if (batch[16] != 2) return "a record batch is not of format 2";
    if (load_uint(batch + 8, 4) + 12 != size) return "a record batch's length is wrong";
    if (load_uint(batch + 17, 4) != crc32c(batch + 21, size - 21)) return "a record batch's CRC is wrong";
    return NULL;
}

#endif
