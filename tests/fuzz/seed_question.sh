#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# seed_question.sh DIR: writes words of -e with questions.
set -eu
cd "$1"

printf 'kmem:kmalloc/value=bytes_alloc:u32:bytes,if=bytes_alloc>=4K&&comm~nginx*/' >value
printf 'ur:/bin/sh:main/if=ret:s32<0||pid==1&&uid!=0x0||args.pid>-5ms/' >alternatives
printf 'span:a:b..c:d/by=ret:arg1,if=time>10ms/' >span
printf 'span:a:b..c:d/by=x,stack=begin,if=time>1s/' >stack
printf 'span:a:b..c:d/by=arg1:arg2,stack=both,if=time>=12ms||pid!=1/' >both
printf 'cycles:u/1000/if=comm!~[ab]?c/' >pattern
printf 'alive:ur:a:b..u:a:c/by=*arg1:arg1,value=arg2*arg3:bytes,if=arg1>4K/' >alive
printf 'alive:ur:a:b..u:a:c/by=ret:arg1,value=arg1,every=512K/' >sample
