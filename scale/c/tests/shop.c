/* Emits into the recording of METASPY_RECORD, or reads the one that is named: `shop`, `shop RECORDING`. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "metaspy.h"

enum { ORDERS = 1000 };

static metaspy_kind order;

static metaspy_event placed;

static bool pay(uint64_t number) {
    METASPY_SITE(site, "shop::Order::pay");
    if (number % 2) {
        metaspy_frame frame;
        metaspy_carried event = metaspy_enter(&frame, site, order, number, metaspy_carry(placed));
        assert(event && metaspy_event_carried(event) == metaspy_current());
        bool is_paid = number % 10 != 3;
        metaspy_exit(&frame, is_paid ? METASPY_SUCCEEDED : METASPY_FAILED);
        return is_paid;
    }
    metaspy_call call;
    metaspy_begin(&call, site, order, number, METASPY_AROUND);
    assert(metaspy_event_of(&call) == metaspy_current());
    bool paid = number % 10 != 3;
    metaspy_end(&call, paid ? METASPY_SUCCEEDED : METASPY_FAILED);
    return paid;
}

static void *ship(void *number) {
    METASPY_SITE(site, "shop::Order::ship");
    metaspy_instant(site, order, (uint64_t)(uintptr_t)number, placed);
    return NULL;
}

static void emit(void) {
    METASPY_SITE(site, "shop::day");
    order = metaspy_kind_of("Order");
    assert(order != 0 && order == metaspy_kind_of("Order"));
    assert(site == metaspy_site_at("shop::day", "elsewhere.c", 1));
    metaspy_label(order, 7, "the seventh");
    metaspy_relate("after", order, 8, order, 7);
    metaspy_call day;
    metaspy_begin(&day, site, 0, 0, METASPY_ROOT);
    placed = metaspy_event_of(&day);
    for (uint64_t number = 0; number < ORDERS; number++)
        pay(number);
    char parent[56];
    assert(metaspy_traceparent(parent) && strlen(parent) == 55);
    metaspy_call answer;
    metaspy_begin_remote(&answer, site, 0, 0, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    assert(metaspy_link(metaspy_event_of(&answer), placed));
    metaspy_end(&answer, METASPY_RETURNED);
    metaspy_end(&answer, METASPY_FAILED); /* no effect */
    /* A thread that comes out of a call is where it was before, and what it begins there may name the call. */
    metaspy_leave(&day);
    metaspy_frame outside;
    assert(metaspy_current() == 0 && metaspy_carry(0) == 0 && metaspy_event_carried(metaspy_carry(placed)) == placed);
    metaspy_enter(&outside, metaspy_site_at("shop::night", __FILE__, __LINE__), 0, 0, metaspy_carry(placed));
    assert(metaspy_current() != placed && metaspy_current() != 0);
    metaspy_exit(&outside, METASPY_RETURNED);
    assert(metaspy_current() == 0 && !metaspy_traceparent(parent) && metaspy_traceparent_of(placed, parent));
    assert(strlen(parent) == 55);
    metaspy_end(&day, METASPY_RETURNED);
    pthread_t thread;
    assert(!pthread_create(&thread, NULL, ship, (void *)7));
    pthread_join(thread, NULL);
    /* What is missing has no effect. */
    metaspy_begin(NULL, site, 0, 0, METASPY_AROUND);
    metaspy_begin(&day, NULL, 0, 0, METASPY_AROUND);
    metaspy_end(&day, METASPY_RETURNED);
    metaspy_end(NULL, METASPY_RETURNED);
    metaspy_enter(&outside, NULL, 0, 0, 0);
    metaspy_exit(&outside, METASPY_RETURNED);
    metaspy_exit(NULL, METASPY_RETURNED);
    metaspy_leave(NULL);
    assert(metaspy_site_at(NULL, NULL, 0) == NULL && metaspy_site_at("", "", 0) == NULL);
    metaspy_label(0, 7, "nobody");
}

static int read_back(const char *path) {
    metaspy_reader *reader = metaspy_open(path);
    if (!reader) {
        fprintf(stderr, "%s\n", metaspy_error());
        return 2;
    }
    unsigned events = 0, failed = 0, shipped = 0;
    metaspy_event day = 0;
    metaspy_record record;
    while (metaspy_next(reader, &record)) {
        events++;
        failed += record.outcome == METASPY_FAILED;
        if (!strcmp(record.site, "shop::day") && !day)
            day = record.event;
        if (!strcmp(record.site, "shop::Order::pay"))
            assert(record.cause == day && !strcmp(record.subject_kind, "Order") && record.took_ns != UINT64_MAX);
        if (!strcmp(record.site, "shop::night"))
            assert(record.cause == day);
        if (!strcmp(record.site, "shop::Order::ship"))
            shipped += record.cause == day && record.subject_key == 7;
    }
    printf("%u events, %u failed, %u shipped, %llu paid\n", events, failed, shipped,
           (unsigned long long)metaspy_calls(reader, "shop::Order::pay"));
    assert(!metaspy_is_damaged(reader) && metaspy_calls(reader, "shop::nothing") == 0);
    metaspy_close(reader);
    return 0;
}

int main(int count, char **arguments) {
    if (count > 1)
        return read_back(arguments[1]);
    emit();
    return 0;
}
