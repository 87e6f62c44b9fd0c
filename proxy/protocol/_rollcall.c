/* _rollcall.c: the roll call of rollcall.py, compiled: 15 ns a name where Python takes 500.
 *
 * Its rules:
 *   - it returns the same as the plain Python of rollcall.py, and is left out where there is no compiler;
 *   - no objects are made of values that are known;
 *   - it looks at so many names at most (MOST): 1 MiB of unknown names took 8 ms.
 */
#include "_wire.h"

/* ---- Known: a set of bytes objects, with which spans are compared in place ---- */

enum { FIRST_ROOM = 64 };                       /* places; always a power of two, and at most half of them taken */

typedef struct { uint64_t hash; PyObject *value; } place;
typedef struct { PyObject_HEAD place *places; size_t room, count; } Known;

/* The place of this value, or the free place where it belongs. */
static place *find(const Known *known, uint64_t hash, const uint8_t *at, size_t size) {
    for (size_t i = hash;; i++) {
        place *each = &known->places[i & (known->room - 1)];
        if (!each->value) return each;
        if (each->hash == hash && (size_t)PyBytes_GET_SIZE(each->value) == size && !memcmp(PyBytes_AS_STRING(each->value), at, size))
            return each;
    }
}

static int has(const Known *known, const uint8_t *at, size_t size) {
    return known->count && find(known, hash_of(at, size), at, size)->value;
}

static int make_room(Known *known) {
    size_t room = known->room ? known->room * 2 : FIRST_ROOM;
    place *before = known->places, *end = before + known->room;
    place *places = PyMem_Calloc(room, sizeof *places);
    if (!places) return PyErr_NoMemory(), -1;
    known->places = places, known->room = room;
    for (place *each = before; each < end; each++)
        if (each->value) *find(known, each->hash, (const uint8_t *)PyBytes_AS_STRING(each->value), (size_t)PyBytes_GET_SIZE(each->value)) = *each;
    PyMem_Free(before);
    return 0;
}

static PyObject *known_add(PyObject *self, PyObject *value) {
    Known *known = (Known *)self;
    if (!PyBytes_Check(value)) return PyErr_SetString(PyExc_TypeError, "only bytes can be known"), NULL;
    if (known->count * 2 >= known->room && make_room(known)) return NULL;
    const uint8_t *at = (const uint8_t *)PyBytes_AS_STRING(value);
    uint64_t hash = hash_of(at, (size_t)PyBytes_GET_SIZE(value));
    place *its = find(known, hash, at, (size_t)PyBytes_GET_SIZE(value));
    if (!its->value) *its = (place){hash, Py_NewRef(value)}, known->count++;
    Py_RETURN_NONE;
}

static PyObject *known_clear(PyObject *self, PyObject *Py_UNUSED(nothing)) {
    Known *known = (Known *)self;
    place *places = known->places, *end = places + known->room;
    known->places = NULL, known->room = known->count = 0;
    for (place *each = places; each < end; each++) Py_XDECREF(each->value);
    PyMem_Free(places);
    Py_RETURN_NONE;
}

static void known_free(PyObject *self) {
    Py_XDECREF(known_clear(self, NULL));
    Py_TYPE(self)->tp_free(self);
}

static Py_ssize_t known_length(PyObject *self) { return (Py_ssize_t)((Known *)self)->count; }

static PyMethodDef known_methods[] = {
    {"add", known_add, METH_O, "Know this value."},
    {"clear", known_clear, METH_NOARGS, "Know nothing."},
    {0},
};
static PySequenceMethods known_sequence = {.sq_length = known_length};
static PyTypeObject known_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "proxy.protocol._rollcall.Known", .tp_basicsize = sizeof(Known), .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = PyType_GenericNew, .tp_dealloc = known_free, .tp_methods = known_methods, .tp_as_sequence = &known_sequence,
};

/* ---- programs, and going over a message by one ---- */

/* The operations. rollcall.py writes the programs, and says what each operation does. */
enum { SKIP, BYTES, NUMBERS, STRUCTS, MAYBE, NAME = 6, FIXED_NAME, LAST, BARE };

enum { MOST = 20000 };                          /* names in one message: 0.7 ms if they are known, 1.7 if none is */

typedef struct { span s; const Known *known; PyObject *strangers; int names; } walk;

static outcome call(walk *w, int64_t size) {
    const uint8_t *value = w->s.at;
    if (skip(&w->s, size)) return FAILED;
    if (w->names++ == MOST) return PyErr_SetString(PyExc_IndexError, "too many names"), FAILED;
    if (has(w->known, value, (size_t)size)) return GOES_ON;
    PyObject *stranger = PyBytes_FromStringAndSize((const char *)value, size);
    if (!stranger) return FAILED;
    int failed = PyList_Append(w->strangers, stranger);
    Py_DECREF(stranger);
    return failed ? FAILED : GOES_ON;
}

/* `last`: each array around this is at its last element. */
static outcome go(walk *w, const int32_t *step, const int32_t *end, int last) {
    span *s = &w->s;
    for (; step < end; step += STEP) {
        const int32_t *its = step + 1;
        outcome then = GOES_ON;
        int64_t n;
        switch (step[0]) {
        case SKIP: then = skip(s, its[0]); break;
        case FIXED_NAME: then = call(w, its[0]); break;
        case LAST: then = last ? DONE : GOES_ON; break;
        case BARE: then = left(s) < 1 ? short_of_bytes() : *s->at++ ? OTHERWISE : GOES_ON; break;
        case NAME:
        case BYTES:                             /* width, nullable */
            if (length(s, its[0], its[1], &n)) return FAILED;
            if (n >= 0) then = step[0] == NAME ? call(w, n) : skip(s, n);
            break;
        case NUMBERS:                           /* width, nullable, size of each; nothing is counted */
            if (length(s, its[0], its[1], &n)) return FAILED;
            if (n > 0) then = skip(s, n * its[2]);
            break;
        case STRUCTS: {                         /* width, nullable, least size, how many of the next steps go over each */
            const int32_t *body = step + STEP;
            step += STEP * its[3];
            if (length(s, its[0], its[1], &n)) return FAILED;
            if (n * its[2] > left(s)) return short_of_bytes();
            for (int64_t i = 0; i < n && then == GOES_ON; i++) then = go(w, body, step + STEP, last && i == n - 1);
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

static PyObject *strangers(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 4 || !PyBytes_Check(arguments[2]) || !Py_IS_TYPE(arguments[3], &known_type))
        return PyErr_SetString(PyExc_TypeError, "strangers(bytes, where to begin, how it begins, Known)"), NULL;
    Py_ssize_t start = PyLong_AsSsize_t(arguments[1]), begun = PyBytes_GET_SIZE(arguments[2]);
    if (start == -1 && PyErr_Occurred()) return NULL;
    Py_buffer bytes;
    if (PyObject_GetBuffer(arguments[0], &bytes, PyBUF_SIMPLE)) return NULL;
    const uint8_t *all = bytes.buf;
    PyObject *result = NULL;
    if (start < 0 || start > bytes.len || begun > bytes.len - start || memcmp(all + start, PyBytes_AS_STRING(arguments[2]), (size_t)begun)) {
        result = Py_NewRef(Py_None);
    } else if ((result = PyList_New(0))) {
        walk w = {{all + start + begun, all + bytes.len}, (Known *)arguments[3], result, 0};
        const int32_t *steps = ((Program *)self)->steps;
        outcome then = go(&w, steps, steps + Py_SIZE(self), 1);
        if (then == FAILED) Py_CLEAR(result);
        if (then == OTHERWISE) Py_SETREF(result, Py_NewRef(Py_None));
    }
    PyBuffer_Release(&bytes);
    return result;
}

static PyMethodDef rollcall_methods[] = {
    {"strangers", (PyCFunction)(void (*)(void))strangers, METH_FASTCALL, "The values that are not known; None where it begins otherwise, or has tags."},
    {0},
};
static PyTypeObject rollcall_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "proxy.protocol._rollcall.RollCall", .tp_basicsize = sizeof(Program), .tp_itemsize = sizeof(int32_t),
    .tp_flags = Py_TPFLAGS_DEFAULT, .tp_new = program_new, .tp_methods = rollcall_methods,
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_rollcall", .m_doc = "The roll call, compiled.", .m_size = -1};

PyMODINIT_FUNC PyInit__rollcall(void) {
    PyObject *made = PyModule_Create(&module);
    if (!made || sow()) return NULL;
    if (PyModule_AddType(made, &known_type) || PyModule_AddType(made, &rollcall_type) || PyModule_AddIntMacro(made, MOST)) return NULL;
    return made;
}
