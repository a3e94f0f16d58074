/* Makes the calls of `bindings/cases.py`, which explains the lines. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ripkit.h"

/* Ends the field at the next tab, and returns the one after it. */
static char *next_field(char *field) {
    char *tab = strchr(field, '\t');
    if (tab == NULL) {
        fprintf(stderr, "driver: a field is missing after: %s\n", field);
        exit(2);
    }
    *tab = '\0';
    return tab + 1;
}

int main(void) {
    ripkit_toolkit *tools = NULL;
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    while ((length = getline(&line, &room, stdin)) > 0) {
        char *first = next_field(line);
        char *second = next_field(first);
        ripkit_answer *answer = NULL;
        if (line[length - 1] == '\n') {
            line[length - 1] = '\0';
        }
        if (strcmp(line, "open") == 0) {
            ripkit_close(tools);
            tools = ripkit_open(first, second, &answer);
        } else {
            answer = ripkit_call(tools, first, second);
        }
        puts(answer == NULL ? "null" : ripkit_answer_json(answer));
        fflush(stdout);
        ripkit_free(answer);
    }
    free(line);
    ripkit_close(tools);
    return 0;
}
