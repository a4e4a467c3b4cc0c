/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which package of Debian has brought a file: its debug symbols are in a package called after it.
 */
#ifndef LIB_SYMBOL_DEBIAN_PACKAGE_H
#define LIB_SYMBOL_DEBIAN_PACKAGE_H

#include <stdbool.h>

#define DEBIAN_PACKAGE_LISTS "/var/lib/dpkg/info" /* a file PACKAGE.list for each package */
#define DEBIAN_PACKAGE_BYTES 256

/* False: no package has it, or this is no Debian. */
bool debian_package_of(const char *lists, const char *path, char name[DEBIAN_PACKAGE_BYTES]);

#endif
