/* Loads the module whose path is the first argument, and takes the place of the server's functions for its memory, which fail when they are
 * told to:
 *
 *   FAIL.FROM n times   from now on, the n-th allocation and those after it fail, as many as that
 *   FAIL.END            no more; how many were made since, and how many of them failed
 *
 * The environment variables GUIRA_FAIL_FROM and GUIRA_FAIL_LOADING, "n times", say what FAIL.FROM would once the module is loaded, and
 * while it is. Memory that was given back
 * since can be had again in pieces of the sizes that it had. A function that ends the server where there is no memory does that here too. */

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef struct Context Context;
typedef struct String String;
typedef int Get(const char *, void *);
typedef int Command(Context *, String **, int);

/* The sizes of pieces that allocators give. */
enum { SIZES = 4096 };

/* Shared with forked processes, which save and rewrite. */
static struct {
    atomic_int is_armed;
    atomic_flag is_locked;
    long from, times, made, failed;
    struct {
        size_t size;
        long pieces;
    } given_back[SIZES];
} *state;

static Get *get;
static void *(*alloc)(size_t), *(*try_alloc)(size_t);
static void *(*resize)(void *, size_t), *(*try_resize)(void *, size_t);
static void *(*zeroed)(size_t, size_t), *(*try_zeroed)(size_t, size_t);
static void (*give_back)(void *);
static size_t (*size_of)(void *);
static const char *(*bytes_of)(const String *, size_t *);
static int (*reply_array)(Context *, long);
static int (*reply_integer)(Context *, long long);
static int (*reply_status)(Context *, const char *);

static void lock(void) {
    while (atomic_flag_test_and_set(&state->is_locked)) {
    }
}

static void unlock(void) { atomic_flag_clear(&state->is_locked); }

static long *pieces(size_t size) {
    for (size_t index = 0; index < SIZES; index++) {
        if (state->given_back[index].size == size || !state->given_back[index].size) {
            state->given_back[index].size = size;
            return &state->given_back[index].pieces;
        }
    }
    abort();
}

/* Whether there is memory for a piece of this size. */
static int is_there(size_t size) {
    int is_there = 1;
    lock();
    if (*pieces(size) > 0) {
        --*pieces(size);
    } else {
        long number = state->made++;
        is_there = number < state->from || number - state->from >= state->times;
        state->failed += !is_there;
    }
    unlock();
    return is_there;
}

static void note_given_back(size_t size) {
    lock();
    ++*pieces(size);
    unlock();
}

static void *taken(void *memory) {
    if (memory && state->is_armed && !is_there(size_of(memory))) {
        give_back(memory);
        return NULL;
    }
    return memory;
}

static void *or_end(void *memory) {
    if (!memory) {
        fputs("Out Of Memory, for the module: the server would end here\n", stderr);
        abort();
    }
    return memory;
}

/* Whether memory can be resized. */
static int can_be_resized(void *memory, size_t size) {
    if (!memory || !state->is_armed) {
        return 1;
    }
    void *other = alloc(size);
    size_t before = size_of(memory), after = size_of(other);
    give_back(other);
    if (before == after) {
        return 1;
    }
    if (!is_there(after)) {
        return 0;
    }
    note_given_back(before);
    return 1;
}

static void *failing_try_alloc(size_t size) { return taken(try_alloc(size)); }
static void *failing_try_zeroed(size_t count, size_t size) { return taken(try_zeroed(count, size)); }
static void *failing_try_resize(void *memory, size_t size) {
    return can_be_resized(memory, size) ? try_resize(memory, size) : NULL;
}
static void *ending_alloc(size_t size) { return or_end(taken(alloc(size))); }
static void *ending_zeroed(size_t count, size_t size) { return or_end(taken(zeroed(count, size))); }
static void *ending_resize(void *memory, size_t size) {
    return or_end(can_be_resized(memory, size) ? resize(memory, size) : NULL);
}
static void noted_give_back(void *memory) {
    if (memory && state->is_armed) {
        note_given_back(size_of(memory));
    }
    give_back(memory);
}

static int get_failing(const char *name, void *found) {
    const struct {
        const char *name;
        void *function;
    } functions[] = {
        {"RedisModule_Alloc", ending_alloc},           {"RedisModule_TryAlloc", failing_try_alloc},
        {"RedisModule_Calloc", ending_zeroed},         {"RedisModule_TryCalloc", failing_try_zeroed},
        {"RedisModule_Realloc", ending_resize},        {"RedisModule_TryRealloc", failing_try_resize},
        {"RedisModule_Free", noted_give_back},
    };
    int status = get(name, found);
    for (size_t index = 0; !status && index < sizeof functions / sizeof *functions; index++) {
        if (!strcmp(name, functions[index].name)) {
            *(void **)found = functions[index].function;
        }
    }
    return status;
}

static void arm(long from, long times) {
    state->from = from;
    state->times = times;
    state->made = state->failed = 0;
    memset(state->given_back, 0, sizeof state->given_back);
    state->is_armed = 1;
}

static void arm_as_asked(const char *variable) {
    const char *numbers = getenv(variable);
    long from = 0, times = 0;
    if (numbers && sscanf(numbers, "%ld %ld", &from, &times) == 2) {
        arm(from, times);
    }
}

static int fail_from(Context *context, String **arguments, int count) {
    if (count == 3) {
        arm(atol(bytes_of(arguments[1], NULL)), atol(bytes_of(arguments[2], NULL)));
    }
    return reply_status(context, "OK");
}

static int fail_end(Context *context, String **arguments, int count) {
    (void)arguments;
    (void)count;
    state->is_armed = 0;
    reply_array(context, 2);
    reply_integer(context, state->made);
    return reply_integer(context, state->failed);
}

int RedisModule_OnLoad(Context *context, String **arguments, int count) {
    int (*create)(Context *, const char *, Command *, const char *, int, int, int);
    get = *(Get **)context;
    state = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    /* Not all servers have the three that may fail. */
    get("RedisModule_TryAlloc", &try_alloc);
    get("RedisModule_TryCalloc", &try_zeroed);
    get("RedisModule_TryRealloc", &try_resize);
    if (state == MAP_FAILED || count < 1 || get("RedisModule_Alloc", &alloc) || get("RedisModule_Calloc", &zeroed) ||
        get("RedisModule_Realloc", &resize) || get("RedisModule_Free", &give_back) ||
        get("RedisModule_MallocSize", &size_of) || get("RedisModule_StringPtrLen", &bytes_of) ||
        get("RedisModule_ReplyWithArray", &reply_array) || get("RedisModule_ReplyWithLongLong", &reply_integer) ||
        get("RedisModule_ReplyWithSimpleString", &reply_status) || get("RedisModule_CreateCommand", &create)) {
        return 1;
    }
    void *module = dlopen(bytes_of(arguments[0], NULL), RTLD_NOW | RTLD_LOCAL);
    Command *load = module ? (Command *)dlsym(module, "RedisModule_OnLoad") : NULL;
    if (!load) {
        return 1;
    }
    arm_as_asked("GUIRA_FAIL_LOADING");
    *(Get **)context = get_failing;
    int status = load(context, arguments + 1, count - 1);
    *(Get **)context = get;
    if (status || create(context, "fail.from", fail_from, "", 0, 0, 0) || create(context, "fail.end", fail_end, "", 0, 0, 0)) {
        return 1;
    }
    state->is_armed = 0;
    arm_as_asked("GUIRA_FAIL_FROM");
    return 0;
}
