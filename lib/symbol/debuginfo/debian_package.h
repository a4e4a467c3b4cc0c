/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The Debian package that a file belongs to; its debug symbols are in a package named after it. */
#ifndef LIB_SYMBOL_DEBIAN_PACKAGE_H
#define LIB_SYMBOL_DEBIAN_PACKAGE_H

#include <stdbool.h>

/* A folder of dpkg, with a file PACKAGE.list for each package. */
#define DEBIAN_PACKAGE_LISTS "/var/lib/dpkg/info"
#define DEBIAN_PACKAGE_BYTES 256

/* Sets the name of the package that lists `path`. False: no package lists it, or no folder `lists`
 * exists. */
bool debian_package_of(const char *lists, const char *path, char name[DEBIAN_PACKAGE_BYTES]);

#endif
