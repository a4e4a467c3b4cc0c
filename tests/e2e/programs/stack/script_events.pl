# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# System calls and allocations, whose callers stack/test_script_perl.py knows: so many rounds in the comparison of a sort, in a destructor and in a
# recursion.
# usage: perl script_events.pl ROUNDS
use strict;
use warnings;

our $bytes = 100_000;

sub allocate { my $text = 'x' x $bytes; undef $text; return }
sub call { getppid() }
sub step { allocate(); call(); return }

sub compare { step(); 0 }
sub sorting { my @sorted = sort compare 1, 2; return }

sub Guarded::DESTROY { step() }
sub guarding { { my $guarded = bless [], 'Guarded' } return }

sub recurse { my ($depth) = @_; return $depth ? recurse($depth - 1) : step() }

for (1 .. $ARGV[0]) {
    sorting();
    guarding();
    recurse(3);
}
