/* Loaded with LD_PRELOAD: counts every call by which Python's `os` or SQLite changes a file under one folder, and at a
 * chosen one ends the process or fails. Armed through ctypes; see fault_library.py. A mapped file, such as SQLite's -shm,
 * changes without a call, and need not survive anyway. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum action { NOTHING, KILL, KILL_HALFWAY, FAIL, HALF };

static char folder[PATH_MAX];
static size_t folder_length;
static atomic_long count;
static long chosen = -1;
static int what_to_do = NOTHING;
static int lasting;
static int error_number;
static int log_descriptor = -1;

/* Begin to count. At operation `at` (from 0) do `action`; with `from_then_on`, fail at every later one too. */
void fault_arm(const char *under, long at, int action, int number, int from_then_on) {
    folder_length = strlen(under);
    memcpy(folder, under, folder_length + 1);
    count = 0;
    chosen = at;
    what_to_do = action;
    error_number = number;
    lasting = from_then_on;
}

void fault_disarm(void) { folder_length = 0; }
long fault_count(void) { return count; }
/* Write a line for each operation to this descriptor. */
void fault_log(int descriptor) { log_descriptor = descriptor; }

static int is_inside(const char *path) {
    return !strncmp(path, folder, folder_length) && (path[folder_length] == '/' || !path[folder_length]);
}

/* What to do at this operation, which counts if it is in the folder; `end` stands for KILL_HALFWAY. */
static int decide(const char *operation, const char *path) {
    if (!folder_length || !is_inside(path)) return NOTHING;
    long now = atomic_fetch_add(&count, 1);
    if (log_descriptor >= 0) dprintf(log_descriptor, "%s %s\n", operation, path + folder_length);
    if (now == chosen) {
        if (what_to_do == KILL) _exit(86);
        return what_to_do;
    }
    if (now > chosen && chosen >= 0 && lasting && (what_to_do == FAIL || what_to_do == HALF)) return FAIL;
    return NOTHING;
}

static int decide_at(const char *operation, const char *path) {
    char name[2 * PATH_MAX];
    if (!folder_length) return NOTHING;
    if (path[0] == '/') return decide(operation, path);
    if (!getcwd(name, PATH_MAX)) return NOTHING;
    size_t length = strlen(name);
    snprintf(name + length, PATH_MAX, "/%s", path);
    return decide(operation, name);
}

static int decide_on(const char *operation, int descriptor) {
    char link[64], name[PATH_MAX];
    if (!folder_length) return NOTHING;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, name, PATH_MAX - 1);
    if (length < 0) return NOTHING;
    name[length] = 0;
    return decide(operation, name);
}

#define REAL(name) ((__typeof__(&name))real(&pointer_##name, #name))
#define POINTER(name) static void *pointer_##name

static void *real(void **pointer, const char *name) {
    if (!*pointer) *pointer = dlsym(RTLD_NEXT, name);
    return *pointer;
}

/* Fail, or do the whole and end the process. */
#define WHOLE(decision, call)                             \
    do {                                                  \
        int decided = (decision);                         \
        if (decided == FAIL || decided == HALF) {         \
            errno = error_number;                         \
            return -1;                                    \
        }                                                 \
        __typeof__(call) result = (call);                 \
        if (decided == KILL_HALFWAY) _exit(86);           \
        return result;                                    \
    } while (0)

/* Fail, or write half; a single byte has no half. */
#define PARTLY(decision, call, half, size)                \
    do {                                                  \
        int decided = (decision);                         \
        if (decided == FAIL || (decided == HALF && (size) < 2)) { \
            errno = error_number;                         \
            return -1;                                    \
        }                                                 \
        if (decided == NOTHING) return (call);            \
        ssize_t result = (half);                          \
        if (decided == KILL_HALFWAY) _exit(86);           \
        return result;                                    \
    } while (0)

POINTER(write); POINTER(pwrite); POINTER(pwrite64); POINTER(fsync); POINTER(fdatasync); POINTER(ftruncate);
POINTER(ftruncate64); POINTER(rename); POINTER(unlink); POINTER(rmdir); POINTER(mkdir);
static void *pointer_open, *pointer_open64;

ssize_t write(int d, const void *data, size_t n) {
    PARTLY(decide_on("write", d), REAL(write)(d, data, n), REAL(write)(d, data, n / 2), n);
}
ssize_t pwrite(int d, const void *data, size_t n, off_t at) {
    PARTLY(decide_on("write", d), REAL(pwrite)(d, data, n, at), REAL(pwrite)(d, data, n / 2, at), n);
}
ssize_t pwrite64(int d, const void *data, size_t n, off64_t at) {
    PARTLY(decide_on("write", d), REAL(pwrite64)(d, data, n, at), REAL(pwrite64)(d, data, n / 2, at), n);
}
int fsync(int d) { WHOLE(decide_on("sync", d), REAL(fsync)(d)); }
int fdatasync(int d) { WHOLE(decide_on("sync", d), REAL(fdatasync)(d)); }
int ftruncate(int d, off_t size) { WHOLE(decide_on("truncate", d), REAL(ftruncate)(d, size)); }
int ftruncate64(int d, off64_t size) { WHOLE(decide_on("truncate", d), REAL(ftruncate64)(d, size)); }
int rename(const char *from, const char *to) { WHOLE(decide_at("rename", to), REAL(rename)(from, to)); }
int unlink(const char *path) { WHOLE(decide_at("delete", path), REAL(unlink)(path)); }
int rmdir(const char *path) { WHOLE(decide_at("delete", path), REAL(rmdir)(path)); }
int mkdir(const char *path, mode_t mode) { WHOLE(decide_at("make folder", path), REAL(mkdir)(path, mode)); }

typedef int opener(const char *, int, ...);

#define CREATES(flags) (((flags)&O_CREAT) || ((flags)&O_TMPFILE) == O_TMPFILE)
#define OPEN(name)                                                              \
    int name(const char *path, int flags, ...) {                                \
        opener *next = (opener *)real(&pointer_##name, #name);                  \
        if (!CREATES(flags)) return next(path, flags);                          \
        va_list rest;                                                           \
        va_start(rest, flags);                                                  \
        mode_t mode = va_arg(rest, mode_t);                                     \
        va_end(rest);                                                           \
        WHOLE(decide_at("create", path), next(path, flags, mode));              \
    }

OPEN(open)
OPEN(open64)
