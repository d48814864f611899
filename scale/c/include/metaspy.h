/* metaspy in C: calls, subjects and causes go into the recording that METASPY_RECORD names, and recordings are read.
 *
 *     cc app.c -I include -L DIR -lmetaspy_c     with DIR: where cargo put libmetaspy_c
 *     METASPY_RECORD=run.spy ./a.out
 *
 * All functions may be called on any thread. Without METASPY_RECORD nothing is recorded: a call costs a test of the
 * site. Texts are UTF-8; wrong bytes are replaced. A null pointer is a missing site, text or call, and has no effect.
 */
#ifndef METASPY_H
#define METASPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A place in the code. It lives as long as the process. */
typedef struct metaspy_site metaspy_site;
/* The number of an event; 0: none. */
typedef uint64_t metaspy_event;
/* The number of a kind of subjects; 0: no subject. */
typedef uint16_t metaspy_kind;

/* How a call ended. */
typedef enum {
    METASPY_RUNNING = 0,
    METASPY_RETURNED = 1,
    METASPY_SUCCEEDED = 2,
    METASPY_FAILED = 3,
    METASPY_PANICKED = 4,
    METASPY_CANCELLED = 5,
    METASPY_INSTANT = 6,
    METASPY_MOVED = 7
} metaspy_outcome;

/* Causes: the event around, or none. Any other number is that event. */
#define METASPY_AROUND ((metaspy_event)0)
#define METASPY_ROOT ((metaspy_event)UINT64_MAX)

/* Room for a call that runs. metaspy_begin fills it; it must not move before metaspy_end. */
typedef struct {
    uint64_t room[24];
} metaspy_call;

/* The site with this path, such as "shop::Order::pay", at a line of a file. One path is one site. */
const metaspy_site *metaspy_site_at(const char *path, const char *file, uint32_t line);
/* As metaspy_site_at. `in_steps`: each call pauses, as that of a coroutine, and its time is that of its steps. Its calls are
 * begun by metaspy_begin, left and resumed, and ended by metaspy_end_steps. */
const metaspy_site *metaspy_site_in(const char *path, const char *file, uint32_t line, bool in_steps);
/* The kind of subjects with this name. */
metaspy_kind metaspy_kind_of(const char *name);
/* True if calls of the site are recorded. */
bool metaspy_is_armed(const metaspy_site *site);

/* Begins a call about a subject. Until it ends, it is the cause of what this thread begins. */
void metaspy_begin(metaspy_call *call, const metaspy_site *site, metaspy_kind kind, uint64_t key, metaspy_event cause);
/* As metaspy_begin, with a cause in another process: a W3C traceparent. A malformed one is counted. */
void metaspy_begin_remote(metaspy_call *call, const metaspy_site *site, metaspy_kind kind, uint64_t key,
                          const char *traceparent);
/* The event of a call that runs; 0 if it is not recorded. */
metaspy_event metaspy_event_of(const metaspy_call *call);
/* This thread comes out of a call, which lasts: what it begins next is no effect of the call, unless its cause is named.
 * It is for languages in which a thread runs something else while a call waits. */
void metaspy_leave(metaspy_call *call);
/* This thread goes into a call that was left, on whichever thread. */
void metaspy_resume(metaspy_call *call);
/* Ends a call, on any thread. A second end has no effect. */
void metaspy_end(metaspy_call *call, metaspy_outcome outcome);
/* Ends a call of a site whose calls pause. */
void metaspy_end_steps(metaspy_call *call, metaspy_outcome outcome);
/* An event without length. Returns its number; 0 if it is not recorded. */
metaspy_event metaspy_instant(const metaspy_site *site, metaspy_kind kind, uint64_t key, metaspy_event cause);

/* The event in which this thread is. */
metaspy_event metaspy_current(void);
/* An event with its recording, for a process whose recordings replace each other: the number of an event alone names
 * another event in another recording. */
typedef uint64_t metaspy_carried;
metaspy_carried metaspy_carry(metaspy_event event);
/* The event; 0 if another recording has begun since. */
metaspy_event metaspy_event_carried(metaspy_carried carried);

/* Room for a call that ends on its own thread, before the calls around it. */
typedef struct {
    uint64_t room[12];
} metaspy_frame;
/* As metaspy_begin and metaspy_end, for such a call, in half of the time. Its cause is an event that is carried; 0: the
 * event around. metaspy_enter returns its own event, and each call is ended once. */
metaspy_carried metaspy_enter(metaspy_frame *frame, const metaspy_site *site, metaspy_kind kind, uint64_t key,
                              metaspy_carried cause);
void metaspy_exit(metaspy_frame *frame, metaspy_outcome outcome);

/* Adds a further reason to an event. False if there is no room; the recording counts that. */
bool metaspy_link(metaspy_event effect, metaspy_event cause);
/* Writes the W3C traceparent of the event in which this thread is: 55 characters and a 0. False if there is none. */
bool metaspy_traceparent(char out[56]);
/* As metaspy_traceparent, of another event. */
bool metaspy_traceparent_of(metaspy_event event, char out[56]);

/* Labels a subject; relates two subjects; ends a subject, so that its key may name another one. */
void metaspy_label(metaspy_kind kind, uint64_t key, const char *text);
void metaspy_relate(const char *relation, metaspy_kind from_kind, uint64_t from_key, metaspy_kind to_kind,
                    uint64_t to_key);
void metaspy_forget(metaspy_kind kind, uint64_t key);

/* A forked child records nothing until it calls this, where it may allocate: in a file beside that of its parent. False if
 * its parent has no recording of METASPY_RECORD. An event of the parent is a cause there as a traceparent only. */
bool metaspy_forked(void);
/* Ends the recording. It ends by itself in a process that does not leave by _exit. */
void metaspy_end_recording(void);

/* Declares a site once, where it is used. */
#define METASPY_SITE(variable, path)                                                                                   \
    static const metaspy_site *variable;                                                                               \
    if (!__atomic_load_n(&variable, __ATOMIC_ACQUIRE))                                                                 \
    __atomic_store_n(&variable, metaspy_site_at(path, __FILE__, __LINE__), __ATOMIC_RELEASE)

/* An open recording: read it on one thread at a time. */
typedef struct metaspy_reader metaspy_reader;

/* An event as it is read. Texts live as long as the reader. */
typedef struct {
    metaspy_event event;
    metaspy_event cause;      /* 0: a root */
    uint64_t time_ns;         /* since the beginning of the recording */
    uint64_t took_ns;         /* UINT64_MAX: it runs, or was not timed */
    uint64_t subject_key;
    const char *subject_kind; /* null: no subject */
    const char *site;
    const char *thread;
    uint32_t outcome;         /* a metaspy_outcome */
} metaspy_record;

/* Opens a recording. Null if it cannot be read: metaspy_error says why. */
metaspy_reader *metaspy_open(const char *path);
/* The next event of the window; false at the end. Events of one thread come in their order. */
bool metaspy_next(metaspy_reader *reader, metaspy_record *record);
/* Calls of the site, with those that left the window. */
uint64_t metaspy_calls(const metaspy_reader *reader, const char *site);
/* True if a part of the recording cannot be read. */
bool metaspy_is_damaged(const metaspy_reader *reader);
/* Closes it. */
void metaspy_close(metaspy_reader *reader);
/* Why the last metaspy_open of this thread failed. It is valid until the next one. */
const char *metaspy_error(void);

#ifdef __cplusplus
}
#endif

#endif
