/* _tally.c: the tally of tally.py: what was written to, or read from, each partition, counted while frames pass.
 *
 * Its rules:
 *   - it counts only plain exchanges about partitions that it knows. A frame that is odd in any way must be read in
 *     Python: then nothing of the frame was counted;
 *   - of records it looks at the headers of batches (magic 2) and at nothing else;
 *   - a request and its answer are counted together, or not at all. A tally that was taken counts nothing more.
 */
#include "_wire.h"
#include <math.h>

enum { PLACES = 16 };                           /* of a new tally; always a power of two, and at most half of them taken */
enum { MOST_ROWS = 1000, MOST_ELEMENTS = 100000 };  /* of one exchange: an exchange with more is read */
enum { ELEMENT = 8 };                           /* units; as in slices.py */
enum { NUMBER_AT = 4, HEAD = 8 };               /* the head of an answer: its size and the correlation id */
enum { ASKED_HEAD = 12 };                       /* the head of a request: these, and the API and its version between */

/* ---- sums, and the headers of record batches ---- */

/* `size` in bytes; -1: there were no records. Offsets and times are -1 if they are not known. */
typedef struct { int64_t size, records, first, last, earliest, latest; } sums;

static const sums NOTHING = {-1, 0, -1, -1, -1, -1};

/* Where in a batch each field stands (KIP-98), as in records/batch.py. */
enum { LENGTH_AT = 8, MAGIC_AT = 16, ATTRIBUTES_AT = 21, DELTA_AT = 23, FIRST_AT = 27, MAX_AT = 35, COUNT_AT = 57, HEADER = 61 };
enum { MAGIC = 2, CONTROL = 1 << 5, BEFORE_LENGTH = 12 };

/* Add the numbers of the batch whose header lies here. False: the header has impossible numbers. */
static int add_batch(sums *to, const uint8_t *at) {
    if (number_at(at + ATTRIBUTES_AT, 2) & CONTROL) return 1;
    int64_t base = number_at(at, 8), latest = number_at(at + MAX_AT, 8), count = number_at(at + COUNT_AT, 4);
    int64_t first = number_at(at + FIRST_AT, 8), delta = number_at(at + DELTA_AT, 4);
    if (count < 0 || base < 0 || delta < 0 || base > INT64_MAX - delta || (latest >= 0 && first < 0)) return 0;
    to->records += count;
    if (to->first < 0) to->first = base;
    to->last = base + delta;
    if (latest >= 0) {
        if (to->earliest < 0) to->earliest = first;
        if (to->latest < latest) to->latest = latest;
    }
    return 1;
}

/* The sums of records of `size` bytes, of which `here` have come. In an answer the last batch may break off. False: the
 * records must be read. */
static int measure(sums *to, const uint8_t *at, int64_t size, int64_t here, int is_answer) {
    *to = NOTHING;
    to->size = size;
    const uint8_t *stop = at + size;
    if (here < size) stop = at + (here < HEADER ? 0 : size);  /* the header of a single batch is enough */
    while (stop - at >= HEADER) {
        int64_t whole = number_at(at + LENGTH_AT, 4) + BEFORE_LENGTH;
        if (at[MAGIC_AT] != MAGIC || whole < HEADER) return 0;
        if (whole > stop - at) return is_answer;
        if (here < size && whole != size) return 0;
        if (!add_batch(to, at)) return 0;
        at += whole;
    }
    if (here < size) return here >= HEADER;
    if (!is_answer || at == stop || stop - at < BEFORE_LENGTH) return is_answer || at == stop;
    return number_at(at + LENGTH_AT, 4) + BEFORE_LENGTH >= HEADER && (stop - at <= MAGIC_AT || at[MAGIC_AT] == MAGIC);
}

/* ---- Tally: cells by topic and partition ---- */

typedef struct {
    PyObject *topic;                            /* bytes: its name, or its id */
    int32_t partition;
    uint32_t row;                               /* its row in the exchange that has this `mark` */
    uint64_t hash, mark, requests;
    sums sum;
} cell;

typedef struct {
    PyObject_HEAD
    cell *cells;
    uint32_t *places;                           /* the number of a cell plus one; 0: free */
    size_t room, count;
    int is_closed, counts_none;                 /* `counts_none`: exchanges about no partition are counted, too */
    uint64_t requests;
    int64_t request_bytes, response_bytes;
    double broker, proxy, broker_most, proxy_most, since, last;
} Tally;

static uint64_t marks;                          /* each look at a frame has a mark of its own */

static uint32_t *find(const Tally *tally, uint64_t hash, const uint8_t *topic, size_t size, int32_t partition) {
    for (size_t i = hash;; i++) {
        uint32_t *each = &tally->places[i & (tally->room - 1)];
        if (!*each) return each;
        const cell *c = &tally->cells[*each - 1];
        if (c->hash == hash && c->partition == partition && (size_t)PyBytes_GET_SIZE(c->topic) == size && !memcmp(PyBytes_AS_STRING(c->topic), topic, size))
            return each;
    }
}

/* The partition is hashed as a name is: otherwise a client could choose thousands of partitions that collide. */
static uint64_t hash_of_both(const uint8_t *topic, size_t size, int32_t partition) {
    return stirred(hash_of(topic, size), (const uint8_t *)&partition, sizeof partition);
}

static int make_room(Tally *tally) {
    size_t room = tally->room ? tally->room * 2 : PLACES;
    cell *cells = PyMem_Realloc(tally->cells, room / 2 * sizeof *cells);
    if (!cells) return PyErr_NoMemory(), -1;
    tally->cells = cells;
    uint32_t *places = PyMem_Calloc(room, sizeof *places);
    if (!places) return PyErr_NoMemory(), -1;
    PyMem_Free(tally->places);
    tally->places = places, tally->room = room;
    for (uint32_t i = 0; i < tally->count; i++) {
        const cell *c = &cells[i];
        *find(tally, c->hash, (const uint8_t *)PyBytes_AS_STRING(c->topic), (size_t)PyBytes_GET_SIZE(c->topic), c->partition) = i + 1;
    }
    return 0;
}

static PyObject *tally_know(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    Tally *tally = (Tally *)self;
    if (count != 2 || !PyBytes_Check(arguments[0])) return PyErr_SetString(PyExc_TypeError, "know(topic in bytes, partition)"), NULL;
    int32_t partition = (int32_t)PyLong_AsLong(arguments[1]);
    if (PyErr_Occurred()) return NULL;
    if (tally->count * 2 >= tally->room && make_room(tally)) return NULL;
    const uint8_t *topic = (const uint8_t *)PyBytes_AS_STRING(arguments[0]);
    size_t size = (size_t)PyBytes_GET_SIZE(arguments[0]);
    uint64_t hash = hash_of_both(topic, size, partition);
    uint32_t *place = find(tally, hash, topic, size, partition);
    if (!*place) {
        tally->cells[tally->count] = (cell){Py_NewRef(arguments[0]), partition, 0, hash, 0, 0, NOTHING};
        tally->cells[tally->count].sum.size = 0, tally->cells[tally->count].sum.records = -1;
        *place = (uint32_t)++tally->count;
    }
    return PyLong_FromUnsignedLong(*place - 1);
}

static PyObject *tally_know_none(PyObject *self, PyObject *Py_UNUSED(nothing)) {
    ((Tally *)self)->counts_none = 1;
    Py_RETURN_NONE;
}

static PyObject *counted(const cell *c) {
    const sums *s = &c->sum;
    PyObject *records = s->records < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(s->records);
    if (!records) return NULL;
    return Py_BuildValue("(OiKNLLLLL)", c->topic, c->partition, c->requests, records, s->size, s->first, s->last, s->earliest, s->latest);
}

static PyObject *tally_take(PyObject *self, PyObject *Py_UNUSED(nothing)) {
    Tally *t = (Tally *)self;
    t->is_closed = 1;
    PyObject *cells = PyList_New(0);
    for (size_t i = 0; cells && i < t->count; i++) {
        if (!t->cells[i].requests) continue;
        PyObject *one = counted(&t->cells[i]);
        if (!one || PyList_Append(cells, one)) Py_CLEAR(cells);
        Py_XDECREF(one);
    }
    if (!cells) return NULL;
    return Py_BuildValue("(KLLddddddN)", t->requests, t->request_bytes, t->response_bytes, t->broker, t->proxy, t->broker_most, t->proxy_most, t->since, t->last, cells);
}

static void tally_free(PyObject *self) {
    Tally *tally = (Tally *)self;
    for (size_t i = 0; i < tally->count; i++) Py_DECREF(tally->cells[i].topic);
    PyMem_Free(tally->cells);
    PyMem_Free(tally->places);
    Py_TYPE(self)->tp_free(self);
}

static PyMethodDef tally_methods[] = {
    {"know", (PyCFunction)(void (*)(void))tally_know, METH_FASTCALL, "Count this partition of this topic from now on. Gives the number of its cell."},
    {"know_none", tally_know_none, METH_NOARGS, "Count from now on what is about no partition, too."},
    {"take", tally_take, METH_NOARGS, "All that was counted. Nothing is counted any more."},
    {0},
};
static PyTypeObject tally_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "proxy.protocol._tally.Tally", .tp_basicsize = sizeof(Tally), .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = PyType_GenericNew, .tp_dealloc = tally_free, .tp_methods = tally_methods,
};

/* ---- Exchange: the numbers of a request, until its answer comes ---- */

typedef struct { uint32_t cell; enum { UNANSWERED, ANSWERED, MEASURED } state; sums sum; } row;

enum { FEW_ROWS = 2 };

typedef struct {
    PyObject_HEAD
    Tally *tally;
    row *rows, few[FEW_ROWS];
    uint32_t count, room;
    int64_t size;
    double came, answered;
} Exchange;

static row *new_row(Exchange *exchange, uint32_t cell) {
    if (exchange->count == exchange->room) {
        uint32_t room = exchange->room * 4;
        row *rows = exchange->rows == exchange->few ? PyMem_Malloc(room * sizeof *rows) : PyMem_Realloc(exchange->rows, room * sizeof *rows);
        if (!rows) return PyErr_NoMemory(), NULL;
        if (exchange->rows == exchange->few) memcpy(rows, exchange->few, sizeof exchange->few);
        exchange->rows = rows, exchange->room = room;
    }
    row *made = &exchange->rows[exchange->count++];
    *made = (row){cell, UNANSWERED, NOTHING};
    return made;
}

static void exchange_free(PyObject *self) {
    Exchange *exchange = (Exchange *)self;
    if (exchange->rows != exchange->few) PyMem_Free(exchange->rows);
    Py_DECREF(exchange->tally);
    PyObject_Free(self);
}

static PyObject *exchange_asked(PyObject *self, PyObject *Py_UNUSED(nothing)) {
    const Exchange *exchange = (Exchange *)self;
    PyObject *rows = PyList_New(exchange->count);
    for (uint32_t i = 0; rows && i < exchange->count; i++) {
        const row *each = &exchange->rows[i];
        const cell *c = &exchange->tally->cells[each->cell];
        const sums *s = &each->sum;
        PyObject *one = Py_BuildValue("(OiLLLL)", c->topic, c->partition, s->size, s->records, s->earliest, s->latest);
        if (!one) Py_CLEAR(rows);
        else PyList_SET_ITEM(rows, i, one);
    }
    return rows;
}

static PyObject *exchange_tally(PyObject *self, void *Py_UNUSED(nothing)) { return Py_NewRef(((Exchange *)self)->tally); }
static PyObject *exchange_came(PyObject *self, void *Py_UNUSED(nothing)) { return PyFloat_FromDouble(((Exchange *)self)->came); }
static PyObject *exchange_size(PyObject *self, void *Py_UNUSED(nothing)) { return PyLong_FromLongLong(((Exchange *)self)->size); }
static PyObject *exchange_held(PyObject *self, void *Py_UNUSED(nothing)) {
    return PyLong_FromSize_t(sizeof(Exchange) + ((Exchange *)self)->room * sizeof(row));
}

static PyMethodDef exchange_methods[] = {
    {"asked", exchange_asked, METH_NOARGS, "What the request said of each partition."},
    {0},
};
static PyGetSetDef exchange_values[] = {
    {"tally", exchange_tally, NULL, NULL, NULL},
    {"came", exchange_came, NULL, NULL, NULL},
    {"size", exchange_size, NULL, NULL, NULL},
    {"held", exchange_held, NULL, NULL, NULL},
    {0},
};
static PyTypeObject exchange_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "proxy.protocol._tally.Exchange", .tp_basicsize = sizeof(Exchange), .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_dealloc = exchange_free, .tp_methods = exchange_methods, .tp_getset = exchange_values,
};

/* ---- layouts, and going over a message by one ---- */

/* The operations. tally.py writes the programs, and says what each operation does. */
enum { SKIP, BYTES, NUMBERS, STRUCTS, MAYBE, BARE, ROWS, ROW, TOPIC, TOPIC_ID, PARTITION, ERROR, BASE_OFFSET, RECORDS, NULLED, ACKS };

typedef struct {
    span s;
    int64_t room;                               /* units, for elements */
    int64_t to_come;                            /* bytes of the frame that have not come: records, and counts of tags
    behind them */
    Exchange *exchange;                         /* NULL: elements are counted, and nothing else */
    uint64_t mark;
    const uint8_t *topic;
    size_t topic_size;
    int64_t partition, base_offset;
    sums sum;
    int is_answer;
} walk;

static outcome records(walk *w, int64_t size) {
    int64_t here = left(&w->s);
    if (size > here + w->to_come) return short_of_bytes();
    if (size && !measure(&w->sum, w->s.at, size, here, w->is_answer)) return OTHERWISE;
    if (size > here) w->to_come -= size - here, size = here;
    w->s.at += size;
    return GOES_ON;
}

/* The end of a partition. */
static outcome end_row(walk *w) {
    Exchange *exchange = w->exchange;
    Tally *tally = exchange->tally;
    uint64_t hash = hash_of_both(w->topic, w->topic_size, (int32_t)w->partition);
    uint32_t number = tally->room ? *find(tally, hash, w->topic, w->topic_size, (int32_t)w->partition) : 0;
    cell *c = number ? &tally->cells[number - 1] : NULL;
    sums sum = w->sum;
    int64_t base = w->base_offset;
    w->sum = NOTHING, w->base_offset = -1;
    int is_known = c && c->mark == w->mark;
    if (!w->is_answer) {
        if (!c || is_known || exchange->count == MOST_ROWS) return OTHERWISE;
        row *made = new_row(exchange, number - 1);
        if (!made) return FAILED;
        sum.first = sum.last = -1;              /* the answer has them */
        made->sum = sum;
        c->mark = w->mark;
        return GOES_ON;
    }
    if (!is_known && sum.size < 0) return GOES_ON;  /* nobody asked for it, and it has no records */
    if (!c || exchange->count == MOST_ROWS) return OTHERWISE;
    if (!is_known) {                            /* an earlier request of the fetch session asked for it */
        if (!new_row(exchange, number - 1)) return FAILED;
        c->mark = w->mark, c->row = exchange->count - 1;
    }
    row *its = &exchange->rows[c->row];
    if (its->state != UNANSWERED) return OTHERWISE;
    its->state = sum.size >= 0 ? MEASURED : ANSWERED;
    if (sum.size >= 0) {
        sum.earliest = sum.latest = -1;         /* times are not counted for records that are fetched */
        its->sum = sum;
    } else if (base >= 0 && its->sum.size >= 0 && its->sum.records > 0) {
        if (base > INT64_MAX - its->sum.records) return OTHERWISE;
        its->sum.first = base, its->sum.last = base + its->sum.records - 1;
    }
    return GOES_ON;
}

static outcome go(walk *w, const int32_t *step, const int32_t *end) {
    span *s = &w->s;
    for (; step < end; step += STEP) {
        const int32_t *its = step + 1;
        outcome then = GOES_ON;
        int64_t n;
        switch (step[0]) {
        case SKIP: then = skip(s, its[0]); break;
        case BARE: then = !left(s) && w->to_come ? (w->to_come--, GOES_ON) : left(s) < 1 ? short_of_bytes() : *s->at++ ? OTHERWISE : GOES_ON; break;
        case ROW: then = end_row(w); break;
        case TOPIC:
        case RECORDS:
        case BYTES:                             /* width, nullable */
            if (length(s, its[0], its[1], &n)) return FAILED;
            if (n < 0) break;
            if (step[0] == RECORDS) { then = records(w, n); break; }
            if (step[0] == TOPIC) w->topic = s->at, w->topic_size = (size_t)n;
            then = skip(s, n);
            break;
        case NULLED:                            /* width */
            if (length(s, its[0], 1, &n)) return FAILED;
            if (n >= 0) return OTHERWISE;
            break;
        case TOPIC_ID:                          /* size */
            w->topic = s->at, w->topic_size = (size_t)its[0];
            then = skip(s, its[0]);
            break;
        case ACKS:
        case ERROR:
        case PARTITION:
        case BASE_OFFSET:                       /* size */
            if (left(s) < its[0]) return short_of_bytes();
            n = number_at(s->at, its[0]);
            s->at += its[0];
            if (step[0] == ACKS ? !n : step[0] == ERROR ? n : 0) return OTHERWISE;
            if (step[0] == PARTITION) w->partition = n;
            if (step[0] == BASE_OFFSET) w->base_offset = n;
            break;
        case NUMBERS:                           /* width, nullable, size of each, units of each */
            if (length(s, its[0], its[1], &n)) return FAILED;
            if (n <= 0) break;
            if ((w->room -= n * its[3]) < 0) return OTHERWISE;
            then = skip(s, n * its[2]);
            break;
        case ROWS:                              /* as STRUCTS, but an array without elements is odd */
        case STRUCTS: {                         /* width, nullable, least size, how many of the next steps go over each */
            const int32_t *body = step + STEP;
            int is_odd = step[0] == ROWS;
            step += STEP * its[3];
            if (length(s, its[0], its[1], &n)) return FAILED;
            if (n <= 0) { if (is_odd) return OTHERWISE; break; }
            if (n * its[2] > left(s) + w->to_come) return short_of_bytes();
            if ((w->room -= n * ELEMENT) < 0) return OTHERWISE;
            for (int64_t i = 0; i < n && then == GOES_ON; i++) then = go(w, body, step + STEP);
            break;
        }
        case MAYBE:                             /* how many of the next steps go over it if it is not null */
            if (left(s) < 1) return short_of_bytes();
            if ((int8_t)*s->at++ < 0) step += STEP * its[0];
            break;
        }
        if (then != GOES_ON) return then;
    }
    return GOES_ON;
}

static outcome over(const Program *layout, walk *w) { return go(w, layout->steps, layout->steps + Py_SIZE(layout)); }

static PyObject *layout_elements(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 3) return PyErr_SetString(PyExc_TypeError, "elements(bytes, where to begin, how many at the most)"), NULL;
    Py_ssize_t start = PyLong_AsSsize_t(arguments[1]), most = PyLong_AsSsize_t(arguments[2]);
    if (PyErr_Occurred()) return NULL;
    Py_buffer bytes;
    if (PyObject_GetBuffer(arguments[0], &bytes, PyBUF_SIMPLE)) return NULL;
    const uint8_t *all = bytes.buf;
    outcome then = OTHERWISE;
    walk w = {.room = most * ELEMENT};
    if (start >= 0 && start <= bytes.len) {
        w.s = (span){all + start, all + bytes.len};
        then = over((Program *)self, &w);
    }
    PyBuffer_Release(&bytes);
    if (then == FAILED) return NULL;
    return then == OTHERWISE ? Py_NewRef(Py_None) : PyLong_FromSsize_t(most - w.room / ELEMENT);
}

/* None, both if bytes are missing and if something is odd; NULL only if there is no memory. */
static PyObject *not_counted(void) {
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_IndexError)) return NULL;
        PyErr_Clear();
    }
    Py_RETURN_NONE;
}

static PyObject *layout_ask(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 6 || !Py_IS_TYPE(arguments[0], &tally_type) || !PyBytes_Check(arguments[4]))
        return PyErr_SetString(PyExc_TypeError, "ask(Tally, bytes, where the frame begins, its size, its header in bytes, when it came)"), NULL;
    Tally *tally = (Tally *)arguments[0];
    Py_ssize_t start = PyLong_AsSsize_t(arguments[2]), header = PyBytes_GET_SIZE(arguments[4]);
    Py_ssize_t size = PyLong_AsSsize_t(arguments[3]);
    double came = PyFloat_AsDouble(arguments[5]);
    if (PyErr_Occurred()) return NULL;
    if (tally->is_closed) Py_RETURN_NONE;
    Py_buffer bytes;
    if (PyObject_GetBuffer(arguments[1], &bytes, PyBUF_SIMPLE)) return NULL;
    PyObject *result = NULL;
    Exchange *exchange = NULL;
    if (start < 0 || start > bytes.len) start = bytes.len;
    const uint8_t *all = (const uint8_t *)bytes.buf + start;
    Py_ssize_t here = size < bytes.len - start ? size : bytes.len - start, body = ASKED_HEAD + header;
    int is_known = body <= here && !memcmp(all + ASKED_HEAD, PyBytes_AS_STRING(arguments[4]), (size_t)header);
    if (is_known && (exchange = PyObject_New(Exchange, &exchange_type))) {
        exchange->tally = (Tally *)Py_NewRef(tally);
        exchange->rows = exchange->few, exchange->count = 0, exchange->room = FEW_ROWS;
        exchange->size = size, exchange->came = came, exchange->answered = -1;
        walk w = {.s = {all + body, all + here}, .room = MOST_ELEMENTS * ELEMENT, .to_come = size - here, .exchange = exchange, .mark = ++marks, .base_offset = -1, .sum = NOTHING};
        if (over((Program *)self, &w) == GOES_ON && !left(&w.s) && !w.to_come) result = (PyObject *)exchange;
        else Py_DECREF(exchange);
    }
    PyBuffer_Release(&bytes);
    return result ? result : not_counted();
}

static void widen(int64_t *first, int64_t *last, int64_t one, int64_t other) {
    if (*first < 0 || one < *first) *first = one;
    if (*last < other) *last = other;
}

static void count_exchange(const Exchange *exchange, int64_t size, double answered, double gone, double at) {
    Tally *t = exchange->tally;
    for (uint32_t i = 0; i < exchange->count; i++) {
        const row *each = &exchange->rows[i];
        cell *c = &t->cells[each->cell];
        const sums *one = &each->sum;
        c->requests++;
        if (one->size < 0) continue;
        if (c->sum.records < 0) c->sum.records = 0;
        c->sum.size += one->size;
        c->sum.records += one->records;
        if (one->first >= 0 && one->records) widen(&c->sum.first, &c->sum.last, one->first, one->last);
        if (one->latest >= 0) widen(&c->sum.earliest, &c->sum.latest, one->earliest, one->latest);
    }
    double broker = answered - exchange->came, proxy = gone - exchange->came - broker;
    if (!t->requests++) t->since = t->last = at;
    if (at < t->since) t->since = at;
    if (at > t->last) t->last = at;
    t->request_bytes += exchange->size, t->response_bytes += size;
    t->broker += broker, t->proxy += proxy;
    if (broker > t->broker_most) t->broker_most = broker;
    if (proxy > t->proxy_most) t->proxy_most = proxy;
}

/* The answer is read after all: forget all that was found in it. */
static void forget_answer(Exchange *exchange, uint32_t asked) {
    exchange->count = asked;
    for (uint32_t i = 0; i < asked; i++) {
        row *each = &exchange->rows[i];
        if (each->state == MEASURED) each->sum = NOTHING;
        each->state = UNANSWERED;
    }
}

/* Can all sums be added without an overflow? Batches may claim any number of records. */
static int fits(const Exchange *exchange) {
    for (uint32_t i = 0; i < exchange->count; i++) {
        const row *each = &exchange->rows[i];
        int64_t all;
        if (__builtin_add_overflow(exchange->tally->cells[each->cell].sum.records, each->sum.records, &all)) return 0;
    }
    return 1;
}

/* Find in an answer the partitions that were asked for. If the answer is odd, nothing of it is kept. */
static outcome look(const Program *layout, Exchange *exchange, const Py_buffer *bytes, Py_ssize_t start, Py_ssize_t stop) {
    Tally *tally = exchange->tally;
    if (tally->is_closed || start < 0 || start + HEAD > stop || stop > bytes->len) return OTHERWISE;
    const uint8_t *all = bytes->buf;
    walk w = {.s = {all + start + HEAD, all + stop}, .room = MOST_ELEMENTS * ELEMENT, .exchange = exchange, .mark = ++marks, .base_offset = -1, .sum = NOTHING, .is_answer = 1};
    uint32_t asked = exchange->count;
    for (uint32_t i = 0; i < asked; i++) {
        cell *c = &tally->cells[exchange->rows[i].cell];
        c->mark = w.mark, c->row = i;
    }
    outcome then = over(layout, &w);
    if (then == GOES_ON && ((!exchange->count && !tally->counts_none) || left(&w.s) || !fits(exchange))) then = OTHERWISE;
    if (then != GOES_ON) forget_answer(exchange, asked);
    return then;
}

enum { TOLD = 5, TOLD_ROW = 8 };                /* how many numbers an exchange and each partition have; tally.py lists
them */

static PyObject *layout_tell(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 6 || !Py_IS_TYPE(arguments[0], &exchange_type))
        return PyErr_SetString(PyExc_TypeError, "tell(Exchange, bytes, where the frame begins and ends, answered, left)"), NULL;
    Exchange *exchange = (Exchange *)arguments[0];
    Py_ssize_t start = PyLong_AsSsize_t(arguments[2]), stop = PyLong_AsSsize_t(arguments[3]);
    double answered = PyFloat_AsDouble(arguments[4]), gone = PyFloat_AsDouble(arguments[5]), broker = answered - exchange->came;
    if (PyErr_Occurred()) return NULL;
    Py_buffer bytes;
    if (PyObject_GetBuffer(arguments[1], &bytes, PyBUF_SIMPLE)) return NULL;
    PyObject *result = NULL;
    if (look((Program *)self, exchange, &bytes, start, stop) == GOES_ON
        && (result = PyBytes_FromStringAndSize(NULL, sizeof(int64_t) * (TOLD + (Py_ssize_t)exchange->count * TOLD_ROW)))) {
        int64_t number = number_at((const uint8_t *)bytes.buf + start + NUMBER_AT, 4), size = stop - start;
        int64_t head[TOLD] = {number, exchange->size, size, (int64_t)rint(broker * 1e6), (int64_t)rint((gone - exchange->came - broker) * 1e6)};
        char *to = (char *)memcpy(PyBytes_AS_STRING(result), head, sizeof head) + sizeof head;
        for (uint32_t i = 0; i < exchange->count; i++) {
            const row *each = &exchange->rows[i];
            const sums *s = &each->sum;
            int64_t told[TOLD_ROW] = {each->cell, exchange->tally->cells[each->cell].partition, s->size, s->records, s->first, s->last, s->earliest, s->latest};
            to = (char *)memcpy(to, told, sizeof told) + sizeof told;
        }
    }
    PyBuffer_Release(&bytes);
    return result ? result : not_counted();
}

static PyObject *layout_answer(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 7 || !Py_IS_TYPE(arguments[0], &exchange_type))
        return PyErr_SetString(PyExc_TypeError, "answer(Exchange, bytes, where the frame begins and ends, answered, left, at)"), NULL;
    Exchange *exchange = (Exchange *)arguments[0];
    Py_ssize_t start = PyLong_AsSsize_t(arguments[2]), stop = PyLong_AsSsize_t(arguments[3]);
    double answered = PyFloat_AsDouble(arguments[4]), gone = PyFloat_AsDouble(arguments[5]), at = PyFloat_AsDouble(arguments[6]);
    if (PyErr_Occurred()) return NULL;
    Py_buffer bytes;
    if (PyObject_GetBuffer(arguments[1], &bytes, PyBUF_SIMPLE)) return NULL;
    outcome then = look((Program *)self, exchange, &bytes, start, stop);
    if (then == GOES_ON) count_exchange(exchange, stop - start, answered, gone, at);
    PyBuffer_Release(&bytes);
    if (then == GOES_ON) Py_RETURN_TRUE;
    PyObject *none = not_counted();
    if (!none) return NULL;
    Py_DECREF(none);
    Py_RETURN_FALSE;
}

static PyMethodDef layout_methods[] = {
    {"elements", (PyCFunction)(void (*)(void))layout_elements, METH_FASTCALL, "How many elements there are; None where there are more, or tags."},
    {"ask", (PyCFunction)(void (*)(void))layout_ask, METH_FASTCALL, "What a request is about; None where it has to be read."},
    {"answer", (PyCFunction)(void (*)(void))layout_answer, METH_FASTCALL, "Count a request with its answer; False where that has to be read."},
    {"tell", (PyCFunction)(void (*)(void))layout_tell, METH_FASTCALL, "What came of each partition; None where the answer has to be read."},
    {0},
};
static PyTypeObject layout_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "proxy.protocol._tally.Layout", .tp_basicsize = sizeof(Program), .tp_itemsize = sizeof(int32_t),
    .tp_flags = Py_TPFLAGS_DEFAULT, .tp_new = program_new, .tp_methods = layout_methods,
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_tally", .m_doc = "The tally, compiled.", .m_size = -1};

PyMODINIT_FUNC PyInit__tally(void) {
    PyObject *made = PyModule_Create(&module);
    if (!made || sow() || PyType_Ready(&exchange_type)) return NULL;
    if (PyModule_AddType(made, &tally_type) || PyModule_AddType(made, &layout_type)) return NULL;
    return made;
}
