# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes functions, runs them and frees them, so that new ones lie where freed ones lay: for so many seconds of CPU time.
# usage: perl script_makes.pl names|files|both SECONDS
use strict;
use warnings;

sub make {
    my ($name, $file) = @_;
    no strict 'refs';
    no warnings;
    eval qq{#line 1 "$file"
sub inner$name { my \$total = 0; \$total += \$_ for 1 .. 3000; return \$total }
sub outer$name { my \$total = inner$name(); return \$total }
outer$name();
1} or die;
    undef &{"inner$name"};
    undef &{"outer$name"};
    delete $main::{"inner$name"};
    delete $main::{"outer$name"};
    return;
}

my $number = 0;
while ((times)[0] < $ARGV[1]) {
    my $text = sprintf '_%07d', ++$number;
    make($ARGV[0] eq 'files' ? '' : $text, $ARGV[0] eq 'names' ? 'made' : "made$text");
}
