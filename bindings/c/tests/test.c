/* Tests of the C interface: `test ROOT VERSION`, where ROOT is an empty directory. */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ripkit.h"

#define THREADS 8
#define CALLS 50

#define CHECK(claim)                                                              \
    do {                                                                          \
        if (!(claim)) {                                                           \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #claim); \
            exit(1);                                                              \
        }                                                                         \
    } while (0)

/* Compares strings and shows both if they differ. */
#define CHECK_TEXT(text, expected) check_text(__LINE__, text, expected)

static void check_text(int line, const char *text, const char *expected) {
    if (text == NULL || strcmp(text, expected) != 0) {
        fprintf(stderr, "line %d: expected:\n%s\nwas:\n%s\n", line, expected,
                text == NULL ? "(NULL)" : text);
        exit(1);
    }
}

/* Frees an answer that must have this code and a text that contains `part`. */
#define CHECK_FAILED(answer, code, part) check_failed(__LINE__, answer, code, part)

static void check_failed(int line, ripkit_answer *answer, const char *code, const char *part) {
    const char *text = ripkit_answer_text(answer, NULL);
    CHECK(answer != NULL);
    check_text(line, ripkit_answer_code(answer), code);
    if (strstr(text, part) == NULL) {
        fprintf(stderr, "line %d: expected %s in:\n%s\n", line, part, text);
        exit(1);
    }
    CHECK(strstr(ripkit_answer_json(answer), "\"is_error\":true") != NULL);
    ripkit_free(answer);
}

static ripkit_toolkit *open_tools(const char *root, const char *options) {
    ripkit_answer *error = NULL;
    ripkit_toolkit *tools = ripkit_open(root, options, &error);
    if (tools == NULL) {
        fprintf(stderr, "cannot open %s: %s\n", root, ripkit_answer_text(error, NULL));
        exit(1);
    }
    CHECK(error == NULL);
    return tools;
}

static void answers_have_text_code_and_json(ripkit_toolkit *tools) {
    size_t length = 0;
    const char *arguments = "{\"path\": \"notes.md\", \"content\": \"buy milk\\n\"}";
    ripkit_answer *answer = ripkit_call(tools, "write_file", arguments);
    CHECK(ripkit_answer_code(answer) == NULL);
    ripkit_free(answer);

    answer = ripkit_call(tools, "search", "{\"pattern\": \"milk\"}");
    CHECK_TEXT(ripkit_answer_text(answer, &length), "notes.md\n1:buy milk");
    CHECK(length == strlen("notes.md\n1:buy milk"));
    CHECK(strncmp(ripkit_answer_json(answer), "{\"is_error\":false,\"code\":null,", 30) == 0);
    CHECK(strstr(ripkit_answer_json(answer), "\"matches\":1") != NULL);
    /* The string is made once. */
    CHECK(ripkit_answer_json(answer) == ripkit_answer_json(answer));
    ripkit_free(answer);

    CHECK_FAILED(ripkit_call(tools, "read_file", "{\"path\": \"no.md\"}"), "FILE_NOT_FOUND", "no.md");
    CHECK_FAILED(ripkit_call(tools, "serach", NULL), "UNKNOWN_TOOL", "did you mean \"search\"");
    CHECK_FAILED(ripkit_call(tools, "search", "{\"pattern\": "), "INVALID_ARGUMENT", "JSON");
    answer = ripkit_call(tools, "list_files", NULL);
    CHECK_TEXT(ripkit_answer_text(answer, NULL), "notes.md");
    ripkit_free(answer);
}

static void a_failure_to_open_is_explained(const char *root) {
    ripkit_answer *error = NULL;
    CHECK(ripkit_open("/no/such/directory", NULL, &error) == NULL);
    CHECK_FAILED(error, "FILE_NOT_FOUND", "/no/such/directory");
    CHECK(ripkit_open(root, "{\"no_such_option\": 1}", &error) == NULL);
    CHECK_FAILED(error, "INVALID_ARGUMENT", "no_such_option");
    CHECK(ripkit_open(root, "[", &error) == NULL);
    CHECK_FAILED(error, "INVALID_ARGUMENT", "the options cannot be used");
    CHECK(ripkit_open(NULL, NULL, &error) == NULL);
    CHECK_FAILED(error, "INVALID_ARGUMENT", "root is NULL");
    CHECK(ripkit_open("\xff", NULL, &error) == NULL);
    CHECK_FAILED(error, "INVALID_ARGUMENT", "root is not UTF-8");
    /* A caller that wants no reason. */
    CHECK(ripkit_open(NULL, NULL, NULL) == NULL);
}

static void wrong_pointers_and_bytes_are_errors(ripkit_toolkit *tools) {
    const char *invalid = "\xc3(";
    ripkit_cancel *cancel = ripkit_cancel_new();
    CHECK_FAILED(ripkit_call(NULL, "search", NULL), "INVALID_ARGUMENT", "toolkit is NULL");
    CHECK_FAILED(ripkit_call(tools, NULL, NULL), "INVALID_ARGUMENT", "tool is NULL");
    CHECK_FAILED(ripkit_call(tools, invalid, NULL), "INVALID_ARGUMENT", "tool is not UTF-8");
    CHECK_FAILED(ripkit_call(tools, "search", invalid), "INVALID_ARGUMENT",
                 "arguments is not UTF-8");
    CHECK_FAILED(ripkit_call_with(NULL, NULL, NULL, cancel, NULL, NULL), "INVALID_ARGUMENT",
                 "toolkit is NULL");
    CHECK_FAILED(ripkit_specs(NULL, NULL), "INVALID_ARGUMENT", "toolkit is NULL");
    CHECK_FAILED(ripkit_specs(tools, invalid), "INVALID_ARGUMENT", "format is not UTF-8");
    CHECK_FAILED(ripkit_specs(tools, "cobol"), "INVALID_ARGUMENT", "cobol");
    CHECK_FAILED(ripkit_add_tool(NULL, "{}", NULL, NULL, NULL), "INVALID_ARGUMENT",
                 "toolkit is NULL");
    CHECK_FAILED(ripkit_add_tool(tools, NULL, NULL, NULL, NULL), "INVALID_ARGUMENT",
                 "definition is NULL");
    CHECK_FAILED(ripkit_add_tool(tools, "{}", NULL, NULL, NULL), "INVALID_ARGUMENT", "run is NULL");
    CHECK(!ripkit_reply(NULL, "text", NULL) && !ripkit_fail(NULL, "IO_ERROR", "message"));
    CHECK(!ripkit_is_stopped(NULL));
    ripkit_report(NULL, 1, 1);
    CHECK_TEXT(ripkit_answer_text(NULL, NULL), "");
    CHECK_TEXT(ripkit_answer_json(NULL), "null");
    CHECK(ripkit_answer_code(NULL) == NULL);
    ripkit_cancel_raise(NULL);
    ripkit_cancel_free(cancel);
    ripkit_cancel_free(NULL);
    ripkit_free(NULL);
    ripkit_close(NULL);
}

static void specs_are_rendered_for_each_provider(ripkit_toolkit *tools) {
    static const char *const formats[] = {"mcp", "anthropic", "openai", "openai-strict", "gemini"};
    ripkit_answer *standard = ripkit_specs(tools, NULL);
    size_t i;
    for (i = 0; i < sizeof formats / sizeof *formats; i++) {
        ripkit_answer *specs = ripkit_specs(tools, formats[i]);
        const char *text = ripkit_answer_text(specs, NULL);
        CHECK(ripkit_answer_code(specs) == NULL);
        CHECK(text[0] == '[' && strstr(text, "\"search\"") != NULL);
        CHECK((strcmp(text, ripkit_answer_text(standard, NULL)) == 0) == (i == 0));
        ripkit_free(specs);
    }
    ripkit_free(standard);
}

static void a_read_only_toolkit_changes_nothing(const char *root) {
    ripkit_toolkit *tools = open_tools(root, "{\"read_only\": true}");
    const char *arguments = "{\"path\": \"new.md\", \"content\": \"\"}";
    CHECK_FAILED(ripkit_call(tools, "write_file", arguments), "READ_ONLY", "write_file");
    ripkit_close(tools);
}

/* What the host's tools know. */
struct host {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int waiting;
    int stopped;
    int released;
    uint64_t files;
    ripkit_cancel *cancel;
};

static void note(struct host *host, int *counter) {
    pthread_mutex_lock(&host->lock);
    *counter += 1;
    pthread_cond_broadcast(&host->changed);
    pthread_mutex_unlock(&host->lock);
}

static void release(void *context) {
    struct host *host = context;
    note(host, &host->released);
}

static void echo(void *context, const char *arguments, const ripkit_invocation *invocation) {
    (void)context;
    CHECK(!ripkit_is_stopped(invocation));
    CHECK(!ripkit_reply(invocation, NULL, NULL) && !ripkit_reply(invocation, "\xff", NULL));
    CHECK(!ripkit_fail(invocation, "NO_CODE", "text"));
    CHECK(ripkit_reply(invocation, arguments, "{\"echoed\": true}"));
    CHECK(!ripkit_reply(invocation, "again", NULL));
}

static void refuse(void *context, const char *arguments, const ripkit_invocation *invocation) {
    (void)context;
    (void)arguments;
    CHECK(ripkit_fail(invocation, "POLICY_DENIED", "not on a Sunday"));
}

static void return_no_json(void *context, const char *arguments,
                           const ripkit_invocation *invocation) {
    (void)context;
    (void)arguments;
    CHECK(ripkit_reply(invocation, "text", "{"));
}

static void say_nothing(void *context, const char *arguments, const ripkit_invocation *invocation) {
    (void)context;
    (void)arguments;
    (void)invocation;
}

/* Reports progress, and waits until it is stopped. */
static void wait_for_stop(void *context, const char *arguments, const ripkit_invocation *invocation) {
    struct host *host = context;
    (void)arguments;
    ripkit_report(invocation, 3, 1);
    note(host, &host->waiting);
    while (!ripkit_is_stopped(invocation)) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    ripkit_reply(invocation, "stopped", NULL);
    note(host, &host->stopped);
}

#define SCHEMA                                                                          \
    "\"description\": \"A test.\", \"schema\": {\"type\": \"object\", "           \
    "\"properties\": {\"word\": {\"type\": \"string\"}}, \"required\": [\"word\"]}"

static void add(ripkit_toolkit *tools, const char *definition, ripkit_tool *run,
                struct host *host) {
    ripkit_answer *error = ripkit_add_tool(tools, definition, run, host, release);
    if (error != NULL) {
        fprintf(stderr, "cannot add %s: %s\n", definition, ripkit_answer_text(error, NULL));
        exit(1);
    }
}

static void tools_of_the_host_are_called(const char *root, struct host *host) {
    ripkit_toolkit *tools = open_tools(root, NULL);
    ripkit_answer *answer;
    add(tools, "{\"name\": \"echo\", \"effect\": \"read\", " SCHEMA "}", echo, host);
    add(tools, "{\"name\": \"refuse\", " SCHEMA "}", refuse, host);
    add(tools, "{\"name\": \"say_nothing\", " SCHEMA "}", say_nothing, host);
    add(tools, "{\"name\": \"no_json\", " SCHEMA "}", return_no_json, host);

    answer = ripkit_call(tools, "echo", "{\"word\": \"hello\"}");
    CHECK_TEXT(ripkit_answer_text(answer, NULL), "{\"word\":\"hello\"}");
    CHECK(strstr(ripkit_answer_json(answer), "\"details\":{\"echoed\":true}") != NULL);
    ripkit_free(answer);
    CHECK_FAILED(ripkit_call(tools, "echo", "{}"), "INVALID_ARGUMENT", "word");
    CHECK_FAILED(ripkit_call(tools, "refuse", "{\"word\": \"\"}"), "POLICY_DENIED",
                 "not on a Sunday");
    CHECK_FAILED(ripkit_call(tools, "say_nothing", "{\"word\": \"\"}"), "INTERNAL", "without a result");
    CHECK_FAILED(ripkit_call(tools, "no_json", "{\"word\": \"\"}"), "INTERNAL", "not JSON");
    answer = ripkit_specs(tools, "openai");
    CHECK(strstr(ripkit_answer_text(answer, NULL), "\"say_nothing\"") != NULL);
    ripkit_free(answer);

    /* A definition that is refused releases the context at once, and a tool that is replaced when no
     * call uses it. */
    CHECK(host->released == 0);
    CHECK_FAILED(ripkit_add_tool(tools, "{\"name\": \"\"}", echo, host, release),
                 "INVALID_ARGUMENT", "name");
    CHECK(host->released == 1);
    add(tools, "{\"name\": \"refuse\", " SCHEMA "}", echo, host);
    ripkit_close(tools);
    pthread_mutex_lock(&host->lock);
    while (host->released < 6) {
        pthread_cond_wait(&host->changed, &host->lock);
    }
    pthread_mutex_unlock(&host->lock);
}

static void see(void *context, uint64_t files, uint64_t results) {
    struct host *host = context;
    CHECK(results == 1);
    pthread_mutex_lock(&host->lock);
    host->files = files;
    pthread_mutex_unlock(&host->lock);
}

static void *cancel_when_it_waits(void *context) {
    struct host *host = context;
    pthread_mutex_lock(&host->lock);
    while (host->waiting == 0) {
        pthread_cond_wait(&host->changed, &host->lock);
    }
    pthread_mutex_unlock(&host->lock);
    ripkit_cancel_raise(host->cancel);
    return NULL;
}

static void another_thread_cancels(const char *root, struct host *host) {
    ripkit_toolkit *tools = open_tools(root, NULL);
    ripkit_answer *answer;
    pthread_t thread;
    host->cancel = ripkit_cancel_new();
    add(tools, "{\"name\": \"wait\", \"effect\": \"read\", " SCHEMA "}", wait_for_stop, host);
    CHECK(pthread_create(&thread, NULL, cancel_when_it_waits, host) == 0);
    answer = ripkit_call_with(tools, "wait", "{\"word\": \"\"}", host->cancel, see, host);
    /* On a loaded machine the call does not wait for the tool. */
    if (ripkit_answer_code(answer) != NULL) {
        CHECK_TEXT(ripkit_answer_code(answer), "CANCELLED");
    } else {
        CHECK_TEXT(ripkit_answer_text(answer, NULL), "stopped");
    }
    /* The test is ended after two minutes. */
    pthread_mutex_lock(&host->lock);
    while (host->stopped == 0) {
        pthread_cond_wait(&host->changed, &host->lock);
    }
    pthread_mutex_unlock(&host->lock);
    CHECK(host->files == 3);
    CHECK(pthread_join(thread, NULL) == 0);
    ripkit_free(answer);
    /* The flag stays up. */
    answer = ripkit_call_with(tools, "search", "{\"pattern\": \"milk\"}", host->cancel, NULL, NULL);
    CHECK_FAILED(answer, "CANCELLED", "cancelled");
    ripkit_cancel_free(host->cancel);
    ripkit_close(tools);
}

static void *call_often(void *context) {
    ripkit_toolkit *tools = context;
    int i;
    for (i = 0; i < CALLS; i++) {
        ripkit_answer *answer = ripkit_call(tools, "search", "{\"pattern\": \"milk\"}");
        CHECK_TEXT(ripkit_answer_text(answer, NULL), "notes.md\n1:buy milk");
        ripkit_free(answer);
        answer = ripkit_call(tools, "echo", "{\"word\": \"w\"}");
        CHECK_TEXT(ripkit_answer_text(answer, NULL), "{\"word\":\"w\"}");
        ripkit_free(answer);
    }
    return NULL;
}

static void threads_share_a_toolkit(const char *root, struct host *host) {
    ripkit_toolkit *tools = open_tools(root, "{\"index\": \"watched\"}");
    pthread_t threads[THREADS];
    int i;
    add(tools, "{\"name\": \"echo\", " SCHEMA "}", echo, host);
    for (i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, call_often, tools) == 0);
    }
    /* A toolkit that is in use can get tools. */
    add(tools, "{\"name\": \"refuse\", " SCHEMA "}", refuse, host);
    for (i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    CHECK_FAILED(ripkit_call(tools, "refuse", "{\"word\": \"\"}"), "POLICY_DENIED", "Sunday");
    ripkit_close(tools);
}

static void a_forked_child_opens_its_own_toolkit(const char *root) {
    const char *pattern = "{\"pattern\": \"milk\"}";
    ripkit_toolkit *tools = open_tools(root, NULL);
    int status = -1;
    pid_t child;
    ripkit_free(ripkit_call(tools, "search", pattern));
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        ripkit_toolkit *own;
        ripkit_answer *answer;
        /* Ends a child that hangs. */
        alarm(60);
        CHECK_FAILED(ripkit_call(tools, "search", pattern), "INTERNAL", "before a fork");
        own = open_tools(root, NULL);
        answer = ripkit_call(own, "search", pattern);
        CHECK_TEXT(ripkit_answer_text(answer, NULL), "notes.md\n1:buy milk");
        ripkit_free(answer);
        ripkit_close(own);
        ripkit_close(tools);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK_FAILED(ripkit_call(tools, "read_file", "{\"path\": \"gone\"}"), "FILE_NOT_FOUND", "gone");
    ripkit_close(tools);
}

int main(int argc, char **argv) {
    static struct host host = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    ripkit_toolkit *tools;
    CHECK(argc == 3);
    CHECK_TEXT(ripkit_version(), argv[2]);
    tools = open_tools(argv[1], NULL);
    answers_have_text_code_and_json(tools);
    wrong_pointers_and_bytes_are_errors(tools);
    specs_are_rendered_for_each_provider(tools);
    ripkit_close(tools);
    a_failure_to_open_is_explained(argv[1]);
    a_read_only_toolkit_changes_nothing(argv[1]);
    tools_of_the_host_are_called(argv[1], &host);
    another_thread_cancels(argv[1], &host);
    threads_share_a_toolkit(argv[1], &host);
    a_forked_child_opens_its_own_toolkit(argv[1]);
    puts("all tests of the C interface passed");
    return 0;
}
