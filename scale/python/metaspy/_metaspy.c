/* Calls of Python: the hook around an observed function, and the place of a context in the tree of causes.
 *
 * A thread runs many tasks of asyncio, so the event that a thread is in says nothing about a task. The place is a variable
 * of the context instead (PEP 567), which a task has as long as it lives, and which a new task copies.
 *
 * The functions of metaspy are those of the library that the package loads before this module.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include "metaspy.h"

/* A place in the tree of causes: an event, and the place around it. */
typedef struct place {
    PyObject_HEAD
    metaspy_carried event;
    struct place *around;
    /* The place around it is not the one in which it began. */
    bool moved;
} Place;

/* The place of a call that runs. */
typedef struct {
    /* Null if the call has no event. */
    Place *place;
    /* Resets the variable. */
    PyObject *token;
} Stay;

static PyObject *variable;

/* The room of a place that is gone. */
static Place *vacant;

static void place_dealloc(Place *place) {
    Py_XDECREF(place->around);
    if (vacant)
        PyObject_Free(place);
    else
        vacant = place;
}

static PyTypeObject PlaceType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metaspy._metaspy.Place",
    .tp_doc = "A place in the tree of causes.",
    .tp_basicsize = sizeof(Place),
    .tp_dealloc = (destructor)place_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
};

/* The place of this context: a new reference, or null. */
static Place *where(void) {
    PyObject *place = NULL;
    if (PyContextVar_Get(variable, NULL, &place) < 0)
        PyErr_Clear();
    if (place == Py_None)
        Py_CLEAR(place);
    return (Place *)place;
}

/* Puts this context into a place. Returns the token. */
static PyObject *go(Place *place) {
    PyObject *token = PyContextVar_Set(variable, place ? (PyObject *)place : Py_None);
    if (!token)
        PyErr_Clear();
    return token;
}

/* Puts this context where it was. It has no effect in another context. */
static void go_back(PyObject *token) {
    if (token && PyContextVar_Reset(variable, token) < 0)
        PyErr_Clear();
}

/* Replaces a place among those around another one. */
static bool replace(Place *above, Place *place, Place *other) {
    for (; above; above = above->around)
        if (above->around == place) {
            Py_XINCREF(other);
            above->around = other;
            above->moved = true;
            Py_DECREF(place);
            return true;
        }
    return false;
}

/* The cause of what begins in a place: its event, or nothing if that is in another recording. */
static metaspy_event cause_in(const Place *place) {
    metaspy_event event = place ? metaspy_event_carried(place->event) : METASPY_AROUND;
    return event || !place ? event : METASPY_ROOT;
}

/* Puts this context into the event of a call that began in a place. */
static Stay stay(metaspy_carried event, Place *around) {
    Stay stay = {NULL, NULL};
    if (!event)
        return stay;
    if (vacant) {
        stay.place = (Place *)PyObject_Init((PyObject *)vacant, &PlaceType);
        vacant = NULL;
    } else {
        stay.place = PyObject_New(Place, &PlaceType);
    }
    if (!stay.place) {
        PyErr_Clear();
        return stay;
    }
    Py_XINCREF(around);
    stay.place->event = event;
    stay.place->around = around;
    stay.place->moved = false;
    stay.token = go(stay.place);
    return stay;
}

/* Puts this context into what is around a call that ended. An exception that is on its way stays. */
static void leave(Stay *stay) {
    Place *place = stay->place;
    if (!place)
        return;
    PyObject *type = NULL, *value, *traceback;
    if (PyErr_Occurred())
        PyErr_Fetch(&type, &value, &traceback);
    Place *now = where();
    if (now == place && place->moved)
        Py_XDECREF(go(place->around));
    /* A call in it may end later, and one whose end is in another context leaves this one as it is. */
    else if (now == place || !replace(now, place, place->around))
        go_back(stay->token);
    Py_XDECREF(now);
    /* A task that began in it may live for long, and needs only its event. */
    Py_CLEAR(place->around);
    Py_CLEAR(stay->place);
    Py_CLEAR(stay->token);
    if (type)
        PyErr_Restore(type, value, traceback);
}

/* An observed function. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *function;
    /* Computes the number of the subject; null: it is the place of the first argument. */
    PyObject *key;
    const metaspy_site *site;
    metaspy_kind kind;
    PyObject *attributes;
    PyObject *weak_references;
} Observed;

/* Reads the subject's number that the function for keys has computed. A fault in that function leaves the call without a
 * subject. False if the program is to end. */
static bool read_key(Observed *self, PyObject *computed, metaspy_kind *kind, uint64_t *key) {
    PyObject *number = computed ? PyNumber_Long(computed) : NULL;
    *key = number ? PyLong_AsUnsignedLongLongMask(number) : 0;
    Py_XDECREF(number);
    Py_XDECREF(computed);
    if (!PyErr_Occurred())
        return true;
    if (!PyErr_ExceptionMatches(PyExc_Exception))
        return false;
    PyErr_WriteUnraisable(self->key);
    *kind = 0;
    return true;
}

static PyObject *observed_call(Observed *self, PyObject *const *arguments, size_t count, PyObject *names) {
    if (!metaspy_is_armed(self->site))
        return PyObject_Vectorcall(self->function, arguments, count, names);
    metaspy_kind kind = self->kind;
    uint64_t key = 0;
    if (kind && self->key) {
        if (!read_key(self, PyObject_Vectorcall(self->key, arguments, count, names), &kind, &key))
            return NULL;
    } else if (kind && PyVectorcall_NARGS(count) > 0) {
        key = (uintptr_t)arguments[0];
    } else {
        kind = 0;
    }
    if (Py_EnterRecursiveCall(" in an observed function"))
        return NULL;
    Place *around = where();
    metaspy_frame frame;
    Stay place = stay(metaspy_enter(&frame, self->site, kind, key, around ? around->event : 0), around);
    Py_XDECREF(around);
    PyObject *result = PyObject_Vectorcall(self->function, arguments, count, names);
    metaspy_exit(&frame, result ? METASPY_RETURNED : METASPY_FAILED);
    leave(&place);
    Py_LeaveRecursiveCall();
    return result;
}

/* subject(arguments, named): the kind and the number of a call's subject. */
static PyObject *observed_subject(Observed *self, PyObject *of_call) {
    PyObject *arguments, *named;
    metaspy_kind kind = self->kind;
    uint64_t key = 0;
    if (!PyArg_ParseTuple(of_call, "O!O!", &PyTuple_Type, &arguments, &PyDict_Type, &named))
        return NULL;
    if (kind && self->key) {
        if (!read_key(self, PyObject_Call(self->key, arguments, named), &kind, &key))
            return NULL;
    } else if (kind && PyTuple_GET_SIZE(arguments) > 0) {
        key = (uintptr_t)PyTuple_GET_ITEM(arguments, 0);
    } else {
        kind = 0;
    }
    return Py_BuildValue("HK", kind, (unsigned long long)key);
}

static PyObject *observed_new(PyTypeObject *type, PyObject *arguments, PyObject *names) {
    PyObject *function, *key;
    Py_ssize_t site;
    unsigned short kind;
    if (!PyArg_ParseTuple(arguments, "OOnH", &function, &key, &site, &kind))
        return NULL;
    Observed *self = (Observed *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    (void)names;
    Py_INCREF(function);
    self->function = function;
    if (key != Py_None) {
        Py_INCREF(key);
        self->key = key;
    }
    self->site = (const metaspy_site *)site;
    self->kind = kind;
    self->vectorcall = (vectorcallfunc)observed_call;
    return (PyObject *)self;
}

static int observed_traverse(Observed *self, visitproc visit, void *arg) {
    Py_VISIT(self->function);
    Py_VISIT(self->key);
    Py_VISIT(self->attributes);
    return 0;
}

static int observed_clear(Observed *self) {
    Py_CLEAR(self->function);
    Py_CLEAR(self->key);
    Py_CLEAR(self->attributes);
    return 0;
}

static void observed_dealloc(Observed *self) {
    PyObject_GC_UnTrack(self);
    if (self->weak_references)
        PyObject_ClearWeakRefs((PyObject *)self);
    observed_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* A method of an object. */
static PyObject *observed_bind(PyObject *self, PyObject *object, PyObject *type) {
    (void)type;
    if (object && object != Py_None)
        return PyMethod_New(self, object);
    Py_INCREF(self);
    return self;
}

/* It is pickled by its name, as functions are. */
static PyObject *observed_reduce(PyObject *self, PyObject *none) {
    (void)none;
    return PyObject_GetAttrString(self, "__qualname__");
}

static PyMethodDef observed_methods[] = {
    {"subject", (PyCFunction)observed_subject, METH_VARARGS, NULL},
    {"__reduce__", observed_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef observed_attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject ObservedType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metaspy._metaspy.Observed",
    .tp_doc = "An observed function.",
    .tp_basicsize = sizeof(Observed),
    .tp_new = observed_new,
    .tp_dealloc = (destructor)observed_dealloc,
    .tp_traverse = (traverseproc)observed_traverse,
    .tp_clear = (inquiry)observed_clear,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Observed, vectorcall),
    .tp_descr_get = observed_bind,
    .tp_methods = observed_methods,
    .tp_getset = observed_attributes,
    .tp_dictoffset = offsetof(Observed, attributes),
    .tp_weaklistoffset = offsetof(Observed, weak_references),
    .tp_flags =
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
};

/* A call that runs, as an object. It is not moved. */
typedef struct {
    PyObject_HEAD
    metaspy_call call;
    Stay stay;
    /* Its thread goes out of it before its end; a step has ended. */
    bool in_steps, paused;
} Begun;

static PyTypeObject BegunType;

/* begin(site, kind, key, cause, traceparent) */
static PyObject *begin_call(PyObject *module, PyObject *arguments) {
    Py_ssize_t site;
    unsigned short kind;
    unsigned long long key;
    unsigned long long event;
    const char *traceparent;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "nHKKz", &site, &kind, &key, &event, &traceparent))
        return NULL;
    Begun *begun = PyObject_New(Begun, &BegunType);
    if (!begun)
        return NULL;
    begun->in_steps = begun->paused = false;
    Place *around = where();
    if (traceparent)
        metaspy_begin_remote(&begun->call, (const metaspy_site *)site, kind, key, traceparent);
    else
        metaspy_begin(&begun->call, (const metaspy_site *)site, kind, key,
                      event == METASPY_AROUND ? cause_in(around) : event);
    begun->stay = stay(metaspy_carry(metaspy_event_of(&begun->call)), around);
    Py_XDECREF(around);
    return (PyObject *)begun;
}

static void end(Begun *self, metaspy_outcome outcome) {
    (self->in_steps ? metaspy_end_steps : metaspy_end)(&self->call, outcome);
    leave(&self->stay);
}

/* end(outcome) */
static PyObject *begun_end(Begun *self, PyObject *outcome) {
    long number = PyLong_AsLong(outcome);
    if (number == -1 && PyErr_Occurred())
        return NULL;
    end(self, (metaspy_outcome)number);
    Py_RETURN_NONE;
}

/* The thread goes out of the call, which lasts. */
static PyObject *begun_leave(Begun *self, PyObject *none) {
    (void)none;
    self->in_steps = true;
    metaspy_leave(&self->call);
    Py_RETURN_NONE;
}

/* step(inner): a step of a call begins, in the place in which the last step paused; None: in that of the call. */
static PyObject *begun_step(Begun *self, PyObject *inner) {
    Stay *stay = &self->stay;
    self->in_steps = true;
    if (self->paused)
        metaspy_resume(&self->call);
    self->paused = false;
    if (!stay->token) {
        Place *place = Py_IS_TYPE(inner, &PlaceType) ? (Place *)inner : stay->place, *around = where();
        stay->token = go(place ? place : around);
        Py_XDECREF(around);
    }
    Py_RETURN_NONE;
}

/* pause(): a step ends. Returns the place in which the next one goes on; None: in that of the call. */
static PyObject *begun_pause(Begun *self, PyObject *none) {
    Stay *stay = &self->stay;
    (void)none;
    PyObject *inner = (PyObject *)where();
    go_back(stay->token);
    Py_CLEAR(stay->token);
    metaspy_leave(&self->call);
    self->paused = true;
    PyObject *outer = (PyObject *)where();
    if (!inner || inner == outer || inner == (PyObject *)stay->place) {
        Py_XDECREF(inner);
        Py_INCREF(Py_None);
        inner = Py_None;
    }
    Py_XDECREF(outer);
    return inner;
}

static PyObject *begun_event(Begun *self, void *none) {
    (void)none;
    return PyLong_FromUnsignedLongLong(metaspy_event_of(&self->call));
}

static void begun_dealloc(Begun *self) {
    /* A call that is dropped before its end. */
    end(self, METASPY_CANCELLED);
    PyObject_Free(self);
}

static PyMethodDef begun_methods[] = {
    {"end", (PyCFunction)begun_end, METH_O, NULL},
    {"leave", (PyCFunction)begun_leave, METH_NOARGS, NULL},
    {"step", (PyCFunction)begun_step, METH_O, NULL},
    {"pause", (PyCFunction)begun_pause, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef begun_attributes[] = {
    {"event", (getter)begun_event, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject BegunType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metaspy._metaspy.Begun",
    .tp_doc = "A call that runs.",
    .tp_basicsize = sizeof(Begun),
    .tp_dealloc = (destructor)begun_dealloc,
    .tp_methods = begun_methods,
    .tp_getset = begun_attributes,
    .tp_flags = Py_TPFLAGS_DEFAULT,
};

/* The event in which this context is; that of the thread if it is in none. */
static metaspy_event current(void) {
    Place *place = where();
    metaspy_event event = place ? metaspy_event_carried(place->event) : metaspy_current();
    Py_XDECREF(place);
    return event;
}

static PyObject *current_event(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    return PyLong_FromUnsignedLongLong(current());
}

/* The cause of an instant. */
static PyObject *cause_here(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    Place *place = where();
    metaspy_event cause = cause_in(place);
    Py_XDECREF(place);
    return PyLong_FromUnsignedLongLong(cause);
}

static PyMethodDef functions[] = {
    {"begin", begin_call, METH_VARARGS, NULL},
    {"cause", cause_here, METH_NOARGS, NULL},
    {"current", current_event, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "metaspy._metaspy", .m_doc = "Calls of Python.", .m_size = -1, .m_methods = functions};

PyMODINIT_FUNC PyInit__metaspy(void) {
    if (PyType_Ready(&PlaceType) < 0 || PyType_Ready(&ObservedType) < 0 || PyType_Ready(&BegunType) < 0)
        return NULL;
    variable = PyContextVar_New("metaspy", NULL);
    PyObject *module = variable ? PyModule_Create(&definition) : NULL;
    Py_INCREF(&ObservedType);
    if (!module || PyModule_AddObject(module, "Observed", (PyObject *)&ObservedType) < 0)
        return NULL;
    return module;
}
