/* A module in RedisBloom's place: it is called "bf", has its CF.* commands, and answers each with a text. */

#include <stddef.h>

typedef struct Context Context;
typedef struct String String;

static int (*reply_status)(Context *, const char *);

static int answer(Context *context, String **arguments, int count) {
    (void)arguments;
    (void)count;
    return reply_status(context, "the stand-in");
}

int RedisModule_OnLoad(Context *context, String **arguments, int count) {
    static const char *const names[] = {
        "cf.reserve", "cf.add", "cf.addnx", "cf.insert", "cf.insertnx", "cf.exists", "cf.mexists", "cf.count", "cf.del",
        "cf.info", "cf.debug", "cf.compact", "cf.scandump", "cf.loadchunk",
    };
    int (*get)(const char *, void *) = *(int (**)(const char *, void *))context;
    void (*set_attributes)(Context *, const char *, int, int);
    int (*create)(Context *, const char *, int (*)(Context *, String **, int), const char *, int, int, int);
    (void)arguments;
    (void)count;
    if (get("RedisModule_SetModuleAttribs", &set_attributes) || get("RedisModule_CreateCommand", &create) ||
        get("RedisModule_ReplyWithSimpleString", &reply_status)) {
        return 1;
    }
    set_attributes(context, "bf", 1, 1);
    for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
        if (create(context, names[index], answer, "write", 1, 1, 1)) {
            return 1;
        }
    }
    return 0;
}
