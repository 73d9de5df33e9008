/* A disk that a loss of power leaves with what was synced, and nothing else.
 *
 * Loaded before libc (LD_PRELOAD), it copies each file that a process syncs, as it is then, into the
 * folder that DURABLE names. What lies there at any moment is what a disk with a write cache would
 * hold if the power went at that moment, at the worst.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef int (*sync_function)(int);
typedef int (*link_function)(const char *, const char *);
typedef int (*unlink_function)(const char *);

static int place(const char *path, const char *end, char *to) {
    const char *folder = getenv("DURABLE");
    const char *name = strrchr(path, '/');
    return folder && name && snprintf(to, PATH_MAX, "%s%s%s", folder, name, end) < PATH_MAX;
}

static void keep(int file) {
    char link[64], path[PATH_MAX], draft[PATH_MAX], to[PATH_MAX], block[65536];
    struct stat about;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0 || fstat(file, &about) || !S_ISREG(about.st_mode)) return;
    path[length] = 0;
    if (!place(path, ".draft", draft) || !place(path, "", to)) return;
    int from = open(link, O_RDONLY);
    if (from < 0) abort();
    int copy = open(draft, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    off_t at = 0;
    ssize_t some;
    while ((some = pread(from, block, sizeof block, at)) > 0) {
        if (write(copy, block, (size_t)some) != some) abort();
        at += some;
    }
    close(copy);
    close(from);
    if (some < 0 || rename(draft, to)) abort();
}

int fsync(int file) {
    int result = ((sync_function)dlsym(RTLD_NEXT, "fsync"))(file);
    if (!result) keep(file);
    return result;
}

int fdatasync(int file) {
    int result = ((sync_function)dlsym(RTLD_NEXT, "fdatasync"))(file);
    if (!result) keep(file);
    return result;
}

/* Names are taken as durable at once: who makes or removes one syncs its folder. */
int link(const char *old, const char *new) {
    char from[PATH_MAX], to[PATH_MAX];
    link_function really = (link_function)dlsym(RTLD_NEXT, "link");
    int result = really(old, new);
    if (!result && place(old, "", from) && place(new, "", to)) really(from, to);
    return result;
}

int unlink(const char *path) {
    char to[PATH_MAX];
    unlink_function really = (unlink_function)dlsym(RTLD_NEXT, "unlink");
    int result = really(path);
    if (!result && place(path, "", to)) really(to);
    return result;
}
