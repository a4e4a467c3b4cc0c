/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The triggers of an instance (abi/trigger_state.h). */
#ifndef BPF_TRIGGERS_H
#define BPF_TRIGGERS_H

#include "map.h"
#include "trigger_state.h"

SHARED_ARRAY_MAP(triggers, 1, struct trigger_state);

#endif
