/* Makes the disk fail for one program: system calls on chosen files fail once a trigger file exists.
 *
 * Loaded with LD_PRELOAD and told what to do by three variables:
 *   CTX_FAULT          sync-eio      fsync and fdatasync fail with EIO
 *                      write-eio     writes and truncations fail with EIO
 *                      write-enospc  writes and truncations fail with ENOSPC
 *                      write-torn    writes keep the first half of their bytes and fail with EIO
 *   CTX_FAULT_PATH     a text; files whose path, with "$" at its end, contains it are meant
 *   CTX_FAULT_TRIGGER  a file; nothing fails before it exists
 *
 * Nothing is kept between calls, so threads need no lock. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Tells whether calls on a file are to fail in this way. */
static int fails(const char *fault, int fd) {
    const char *wanted = getenv("CTX_FAULT"), *text = getenv("CTX_FAULT_PATH"), *trigger = getenv("CTX_FAULT_TRIGGER");
    if (!wanted || !text || !trigger || strcmp(wanted, fault) != 0 || access(trigger, F_OK) != 0)
        return 0;
    char link[64], path[PATH_MAX + 2];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX);
    if (length < 0)
        return 0;
    path[length] = '$';
    path[length + 1] = '\0';
    return strstr(path, text) != NULL;
}

static int fail(int error) {
    errno = error;
    return -1;
}

int fsync(int fd) { return fails("sync-eio", fd) ? fail(EIO) : REAL(fsync)(fd); }

int fdatasync(int fd) { return fails("sync-eio", fd) ? fail(EIO) : REAL(fdatasync)(fd); }

ssize_t write(int fd, const void *bytes, size_t count) {
    if (fails("write-eio", fd))
        return fail(EIO);
    if (fails("write-enospc", fd))
        return fail(ENOSPC);
    if (fails("write-torn", fd))
        return REAL(write)(fd, bytes, count / 2) < 0 ? -1 : fail(EIO);
    return REAL(write)(fd, bytes, count);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    if (fails("write-eio", fd))
        return fail(EIO);
    if (fails("write-enospc", fd))
        return fail(ENOSPC);
    if (fails("write-torn", fd))
        return REAL(pwrite)(fd, bytes, count / 2, offset) < 0 ? -1 : fail(EIO);
    return REAL(pwrite)(fd, bytes, count, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) { return pwrite(fd, bytes, count, offset); }

int ftruncate(int fd, off_t length) {
    if (fails("write-eio", fd))
        return fail(EIO);
    return fails("write-enospc", fd) ? fail(ENOSPC) : REAL(ftruncate)(fd, length);
}

int ftruncate64(int fd, off64_t length) { return ftruncate(fd, length); }
