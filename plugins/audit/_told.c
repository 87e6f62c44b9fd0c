/* _told.c: the events of told.py. They wait as numbers, and are written as lines all at once.
 *
 * Its rules:
 *   - this code knows no field: told.py gives the texts between the numbers;
 *   - an event is a sequence of words: its time, its shared fields, the next bytes of its line, and its numbers. `most` is
 *     never less than the bytes that the lines take, so that writing them needs no checks of bounds;
 *   - no event is added once lines were made. They are made without the interpreter's lock, which the relay needs
 *     meanwhile.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <time.h>

enum { SIZE, RECORDS, FIRST, LAST, EARLIEST, LATEST };  /* the numbers of a resource after its cell and its partition */
enum { OF_EVENT = 5, OF_RESOURCE = 8 };         /* numbers, as `Layout.tell` gives them */
enum { GAPS = OF_EVENT + 1 + OF_RESOURCE - 1 }; /* texts before each number; one follows the event's own numbers */
enum { DIGITS = 20, SECOND = 24, MICROS = 7, BRACES = 3 };  /* bytes of a number, of a time, and around a line or a resource */
enum { FULL = 1 << 20 };                        /* bytes of lines after which no event is added */
static const size_t LONGEST = 1u << 30;
static const double LATEST_MOMENT = 2e11;       /* seconds since 1970; later years have five digits */

typedef union { int64_t number; double at; PyObject *object; } word;
enum { AT, SHARED, BEGINS, COUNT, NUMBERS, RESOURCES = NUMBERS + OF_EVENT };  /* words of an event */

typedef struct {
    PyObject_HEAD
    PyObject *gaps;
    word *words;
    size_t used, room, events, most;
    size_t of_event, of_resource;               /* the most bytes of gaps and numbers of one event, of one resource */
    long long weight;
    int is_closed;
} ToldEvents;

static PyObject *told_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(named)) {
    PyObject *gaps;
    if (!PyArg_ParseTuple(arguments, "O!", &PyTuple_Type, &gaps)) return NULL;
    if (PyTuple_GET_SIZE(gaps) != GAPS) return PyErr_Format(PyExc_ValueError, "there are %d gaps", GAPS);
    size_t own[2] = {SECOND + MICROS + OF_EVENT * DIGITS + BRACES, OF_RESOURCE * DIGITS + BRACES};
    for (Py_ssize_t i = 0; i < GAPS; i++) {
        if (!PyBytes_Check(PyTuple_GET_ITEM(gaps, i))) return PyErr_SetString(PyExc_TypeError, "gaps are bytes"), NULL;
        own[i > OF_EVENT] += (size_t)PyBytes_GET_SIZE(PyTuple_GET_ITEM(gaps, i));
    }
    ToldEvents *self = (ToldEvents *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->gaps = Py_NewRef(gaps), self->of_event = own[0], self->of_resource = own[1];
    return (PyObject *)self;
}

static size_t words_of(const word *event) { return RESOURCES + (size_t)event[COUNT].number * OF_RESOURCE; }

static void hold(const word *event) {
    Py_INCREF(event[SHARED].object);
    Py_INCREF(event[BEGINS].object);
    for (int64_t n = 0; n < event[COUNT].number; n++) Py_INCREF(event[RESOURCES + n * OF_RESOURCE].object);
}

static void told_free(PyObject *self) {
    ToldEvents *told = (ToldEvents *)self;
    for (size_t i = 0; i < told->used;) {
        const word *event = &told->words[i];
        Py_DECREF(event[SHARED].object);
        Py_DECREF(event[BEGINS].object);
        for (int64_t n = 0; n < event[COUNT].number; n++) Py_DECREF(event[RESOURCES + n * OF_RESOURCE].object);
        i += words_of(event);
    }
    PyMem_Free(told->words);
    Py_DECREF(told->gaps);
    Py_TYPE(self)->tp_free(self);
}

static int make_room(ToldEvents *told, size_t more) {
    if (told->room - told->used >= more) return 0;
    size_t room = 2 * (told->room + more);
    word *words = PyMem_Realloc(told->words, room * sizeof *words);
    if (!words) return PyErr_NoMemory(), -1;
    told->words = words, told->room = room;
    return 0;
}

static PyObject *told_add(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    ToldEvents *told = (ToldEvents *)self;
    if (count != 6 || !PyBytes_Check(arguments[3]) || !PyList_Check(arguments[4]) || !PyBytes_Check(arguments[5]))
        return PyErr_SetString(PyExc_TypeError, "add(at, weight, shared, begins, heads, numbers)"), NULL;
    double at = PyFloat_AsDouble(arguments[0]);
    long weight = PyLong_AsLong(arguments[1]);
    if (PyErr_Occurred()) return NULL;
    if (!(fabs(at) < LATEST_MOMENT)) return PyErr_SetString(PyExc_ValueError, "this is no moment"), NULL;
    if (told->is_closed || told->most >= FULL) Py_RETURN_FALSE;
    size_t size = (size_t)PyBytes_GET_SIZE(arguments[5]), numbers = size / sizeof(word), resources = (numbers - OF_EVENT) / OF_RESOURCE;
    if (size % sizeof(word) || numbers < OF_EVENT || (numbers - OF_EVENT) % OF_RESOURCE)
        return PyErr_SetString(PyExc_ValueError, "these are not the numbers of an event"), NULL;
    if (make_room(told, NUMBERS + numbers)) return NULL;
    word *event = &told->words[told->used], *resource = event + RESOURCES;  /* valid only once `used` includes it */
    event[AT].at = at, event[COUNT].number = (int64_t)resources;
    event[SHARED].object = arguments[2], event[BEGINS].object = arguments[3];
    memcpy(event + NUMBERS, PyBytes_AS_STRING(arguments[5]), size);
    size_t most = told->of_event + (size_t)PyBytes_GET_SIZE(arguments[3]);
    for (size_t i = 0; i < resources; i++, resource += OF_RESOURCE) {
        int64_t cell = resource->number;
        if (cell < 0 || cell >= PyList_GET_SIZE(arguments[4]) || !PyBytes_Check(PyList_GET_ITEM(arguments[4], cell)))
            return PyErr_SetString(PyExc_IndexError, "nothing is known of this resource"), NULL;
        resource->object = PyList_GET_ITEM(arguments[4], cell);
        most += told->of_resource + (size_t)PyBytes_GET_SIZE(resource->object);
        if (most > LONGEST) return PyErr_SetString(PyExc_OverflowError, "this is too long"), NULL;
    }
    hold(event);
    told->used += NUMBERS + numbers, told->most += most, told->events++, told->weight += weight;
    Py_RETURN_TRUE;
}

static PyObject *told_close(PyObject *self, PyObject *Py_UNUSED(nothing)) {
    ((ToldEvents *)self)->is_closed = 1;
    Py_RETURN_NONE;
}

/* ---- writing: each function returns the end of its text ---- */

static char *put(char *to, const PyObject *text) {
    size_t size = (size_t)PyBytes_GET_SIZE(text);
    return (char *)memcpy(to, PyBytes_AS_STRING(text), size) + size;
}

static char *put_number(char *to, int64_t number) {
    char digits[DIGITS], *at = digits + DIGITS;
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
    do *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (number < 0) *to++ = '-';
    size_t size = (size_t)(digits + DIGITS - at);
    return (char *)memcpy(to, at, size) + size;
}

typedef struct { int64_t second; size_t size; char text[SECOND]; } clock_text;  /* the text of a second is made once for all events in it */

static char *put_moment(char *to, double at, clock_text *now) {
    int64_t micros = (int64_t)rint(at * 1e6), rest = micros % 1000000;
    if (rest < 0) rest += 1000000;
    int64_t second = (micros - rest) / 1000000;
    if (!now->size || now->second != second) {
        time_t whole = (time_t)second;
        struct tm parts;
        now->second = second, now->size = gmtime_r(&whole, &parts) ? strftime(now->text, SECOND, "%Y-%m-%dT%H:%M:%S.", &parts) : 0;
    }
    memcpy(to, now->text, now->size);
    to += now->size;
    for (int i = 5; i >= 0; i--, rest /= 10) to[i] = (char)('0' + rest % 10);
    to[6] = 'Z';
    return to + 7;
}

static char *put_resource(char *to, const word *head, PyObject *const *gaps) {
    const word *n = head + 2;
    *to++ = '{';
    to = put_number(put(put(to, head->object), gaps[0]), head[1].number);
    if (n[SIZE].number >= 0) {
        int has_offsets = n[FIRST].number >= 0 && n[RECORDS].number, has_times = n[LATEST].number >= 0;
        for (int i = SIZE; i <= LATEST; i++)
            if (i <= RECORDS || (i <= LAST ? has_offsets : has_times)) to = put_number(put(to, gaps[1 + i]), n[i].number);
    }
    *to++ = '}';
    return to;
}

static char *put_lines(const ToldEvents *told, char *to, const PyObject *stamp, const PyObject *chain, int64_t sequence) {
    PyObject *const *gaps = &PyTuple_GET_ITEM(told->gaps, 0);
    clock_text now = {0};
    for (size_t i = 0; i < told->used;) {
        const word *event = &told->words[i], *resource = event + RESOURCES;
        to = put(put_moment(put(to, stamp), event[AT].at, &now), chain);
        to = put(put_number(to, ++sequence), event[BEGINS].object);
        for (int n = 0; n < OF_EVENT; n++) to = put_number(put(to, gaps[n]), event[NUMBERS + n].number);
        to = put(to, gaps[OF_EVENT]);
        for (int64_t n = 0; n < event[COUNT].number; n++, resource += OF_RESOURCE) {
            if (n) *to++ = ',';
            to = put_resource(to, resource, gaps + OF_EVENT + 1);
        }
        to = (char *)memcpy(to, "]}\n", 3) + 3;
        i += words_of(event);
    }
    return to;
}

static PyObject *told_lines(PyObject *self, PyObject *arguments) {
    ToldEvents *told = (ToldEvents *)self;
    PyObject *stamp, *chain;
    long long sequence;
    if (!PyArg_ParseTuple(arguments, "SSL", &stamp, &chain, &sequence)) return NULL;
    if (sequence < 0 || sequence > INT64_MAX / 2) return PyErr_SetString(PyExc_ValueError, "this is no sequence"), NULL;
    told->is_closed = 1;
    size_t each = (size_t)PyBytes_GET_SIZE(stamp) + (size_t)PyBytes_GET_SIZE(chain) + DIGITS;
    if (told->events && each > LONGEST / told->events) return PyErr_SetString(PyExc_OverflowError, "these are too long"), NULL;
    PyObject *made = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(told->most + told->events * each));
    if (!made) return NULL;
    char *begin = PyBytes_AS_STRING(made), *end;
    Py_BEGIN_ALLOW_THREADS
    end = put_lines(told, begin, stamp, chain, sequence);
    Py_END_ALLOW_THREADS
    return _PyBytes_Resize(&made, end - begin) ? NULL : made;
}

/* For the redaction of single events. */
static PyObject *told_whose(PyObject *self, PyObject *Py_UNUSED(nothing)) {
    const ToldEvents *told = (ToldEvents *)self;
    PyObject *all = PyList_New(0);
    for (size_t i = 0; all && i < told->used;) {
        const word *event = &told->words[i];
        PyObject *one = Py_BuildValue("(dO)", event[AT].at, event[SHARED].object);
        if (!one || PyList_Append(all, one)) Py_CLEAR(all);
        Py_XDECREF(one);
        i += words_of(event);
    }
    return all;
}

static Py_ssize_t told_length(PyObject *self) { return (Py_ssize_t)((ToldEvents *)self)->events; }
static PyObject *told_weight(PyObject *self, void *Py_UNUSED(nothing)) { return PyLong_FromLongLong(((ToldEvents *)self)->weight); }

static PyMethodDef told_methods[] = {
    {"add", (PyCFunction)(void (*)(void))told_add, METH_FASTCALL, "Keep one more event. False: no more are kept here."},
    {"close", told_close, METH_NOARGS, "Keep no more."},
    {"lines", told_lines, METH_VARARGS, "The lines of all, the sequence of the first being the next one."},
    {"whose", told_whose, METH_NOARGS, "When each happened, and what it shares with others."},
    {0},
};
static PyGetSetDef told_values[] = {{"weight", told_weight, NULL, NULL, NULL}, {0}};
static PySequenceMethods told_sequence = {.sq_length = told_length};
static PyTypeObject told_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "plugins.audit._told.ToldEvents", .tp_basicsize = sizeof(ToldEvents), .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = told_new, .tp_dealloc = told_free, .tp_methods = told_methods, .tp_getset = told_values, .tp_as_sequence = &told_sequence,
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_told", .m_doc = "Events that are told, compiled.", .m_size = -1};

PyMODINIT_FUNC PyInit__told(void) {
    PyObject *made = PyModule_Create(&module);
    return !made || PyModule_AddType(made, &told_type) ? NULL : made;
}
