/* _wire.h: going over the bytes of a message, for the C modules of proxy/protocol.
 *
 * Its rules:
 *   - a program says how a message is laid out. Programs are trusted: only rollcall.py and tally.py write them. The
   bytes
 *     are not: they may come from anybody;
 *   - no byte is read, and no length used, before it is checked against the end of the bytes. If the check fails, an
 *     IndexError is raised.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

enum { COMPACT = 0 };                           /* the width of a compact length; other widths are in bytes */
enum { OPERANDS = 4, STEP = 1 + OPERANDS };     /* each operation has room for so many numbers */

typedef struct { const uint8_t *at, *end; } span;
typedef enum { GOES_ON, DONE, OTHERWISE, FAILED } outcome;

static outcome short_of_bytes(void) { return PyErr_SetString(PyExc_IndexError, "bytes end early, or a length cannot be"), FAILED; }

static int64_t left(const span *s) { return s->end - s->at; }

static outcome skip(span *s, int64_t count) {
    if (count > left(s)) return short_of_bytes();
    s->at += count;
    return GOES_ON;
}

/* A number of so many bytes. The caller has checked that they are there. */
static int64_t number_at(const uint8_t *at, int32_t width) {
    uint64_t number = (uint64_t)(int8_t)at[0];
    for (int32_t i = 1; i < width; i++) number = number << 8 | at[i];
    return (int64_t)number;
}

static outcome uvarint(span *s, int64_t *number) {
    uint64_t n = 0;
    for (int shift = 0; shift < 35; shift += 7) {
        if (s->at == s->end) break;
        uint8_t byte = *s->at++;
        n |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return n > UINT32_MAX ? short_of_bytes() : (*number = (int64_t)n, GOES_ON);
    }
    return short_of_bytes();
}

/* A length or count; below 0 for null. */
static outcome length(span *s, int32_t width, int32_t nullable, int64_t *number) {
    if (width == COMPACT) {
        if (uvarint(s, number)) return FAILED;
        --*number;
    } else {
        if (left(s) < width) return short_of_bytes();
        *number = number_at(s->at, width);
        s->at += width;
    }
    return *number < 0 && !nullable ? short_of_bytes() : GOES_ON;
}

static uint64_t seed;                           /* differs in each process: nobody can choose names that collide */

static int sow(void) {
    PyObject *word = PyUnicode_FromString("seed");
    if (!word) return -1;
    seed = (uint64_t)PyObject_Hash(word) | 1;   /* differs in each process, as Python's own hashes do */
    Py_DECREF(word);
    return 0;
}

static uint64_t stirred(uint64_t hash, const uint8_t *at, size_t size) {
    uint64_t word = 0;
    memcpy(&word, at, size);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

/* Eight bytes at a time: byte by byte, hashing would take half of the time of a name. */
static uint64_t hash_of(const uint8_t *at, size_t size) {
    uint64_t hash = seed ^ size;
    for (; size > 8; at += 8, size -= 8) hash = stirred(hash, at, 8);
    return stirred(hash, at, size);
}

typedef struct { PyObject_VAR_HEAD int32_t steps[]; } Program;

/* A program made of a tuple of numbers. */
static PyObject *program_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(named)) {
    PyObject *numbers;
    if (!PyArg_ParseTuple(arguments, "O!", &PyTuple_Type, &numbers)) return NULL;
    Program *self = (Program *)type->tp_alloc(type, PyTuple_GET_SIZE(numbers));
    if (!self) return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(numbers); i++) {
        long number = PyLong_AsLong(PyTuple_GET_ITEM(numbers, i));
        if (number == -1 && PyErr_Occurred()) return Py_DECREF(self), NULL;
        self->steps[i] = (int32_t)number;
    }
    return (PyObject *)self;
}
