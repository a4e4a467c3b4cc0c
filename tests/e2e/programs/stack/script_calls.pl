# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Calls of every kind, whose callers stack/test_script_perl.py knows: runs for so many seconds of CPU time in so many threads (if Perl has threads).
# usage: perl script_calls.pl SECONDS [THREADS]
use strict;
use warnings;
no warnings qw(recursion redefine);
use List::Util qw(first sum reduce);

sub burn {
    my ($total, $i) = (0, 0);
    while ($i < 200) {
        $total += $i * $i % 7;
        $i++;
    }
    return $total;
}

sub inner { burn() }

sub work {
    my ($value) = @_;
    inner();
    return $value;
}

sub recurse {
    my ($depth) = @_;
    return $depth ? recurse($depth - 1) : work($depth);
}

sub by_number { work(0); $a <=> $b }

sub sorting {
    my @sorted = sort by_number 3, 1, 2;
    @sorted = sort { from_block($a) <=> $b } 3, 1, 2;
    @sorted = sort { in_comparison($a, $b) } 3, 1, 2;
    return @sorted;
}

sub from_block { work($_[0]) }
sub in_comparison { work($_[0]); $_[0] <=> $_[1] }

sub recurse_through_sort {
    my ($depth) = @_;
    return work($depth) unless $depth;
    my @sorted = sort { recurse_through_sort($depth - 1); $a <=> $b } 2, 1;
    return;
}

sub callbacks {
    my $found = first { in_first($_) == 2 } 1, 2, 3;
    my $last = reduce { in_reduce($a) + $b } 1, 2, 3;
    my $nested = first { (first { in_first($_) > 1 } 1, 2) } 1;
    return;
}

sub in_first { work($_[0]) }
sub in_reduce { work($_[0]) }

sub named_callback { work(1) }
sub calls_named { my ($function) = @_; $function->(1) }

sub closures {
    my ($n) = @_;
    my $closure = sub { work($n) };
    $closure->();
    calls_named(\&named_callback);
    my @mapped = map { in_map($_) } 1, 2;
    return;
}

sub in_map { work($_[0]) }

sub failing { work(1); die "x\n" }
sub after_failure { work(2) }

sub catching {
    eval { failing(); 1 } or after_failure();
    eval { eval { failing() }; after_failure(); die "y\n" };
    local $SIG{__DIE__} = \&on_die;
    eval { failing() };
    return;
}

sub on_die { work(3) }

sub in_string { work(1) }

sub evaluating {
    eval 'in_string(); 1' or die;
    eval 'sub made { work(1) } made(); 1' or die;
    return;
}

sub warning {
    local $SIG{__WARN__} = \&on_warning;
    warn "x\n";
    return;
}

sub on_warning { eval { in_eval(); 1 }; work(1); eval { die "z\n" }; work(2); return }
sub in_eval { work(1) }

package Tied;
sub TIESCALAR { bless [], shift }
sub FETCH { main::work(1) }
sub STORE { eval { main::in_eval(); die "x\n" }; main::work(2) }

package Guarded;
sub new { bless {}, shift }
sub DESTROY { main::work(1) }

package Added;
use overload '+' => \&plus, '""' => sub { main::work(1); 'text' }, 'bool' => \&truth, 'cmp' => \&compare;
sub plus { main::work(1) }
sub truth { main::work(1); 1 }
sub compare { main::work(1); "$_[0][0]" cmp "$_[1][0]" }

package Loaded;
our $AUTOLOAD;
sub new { bless [], shift }
sub AUTOLOAD { my $name = $AUTOLOAD; return if $name =~ /DESTROY/; main::work(1) }

package Parent;
sub new { my $class = shift; bless [], $class }
sub method { main::work(1) }

package Child;
our @ISA = ('Parent');
sub method { my $self = shift; $self->SUPER::method() }

package main;

sub tying {
    tie my $tied, 'Tied';
    my $value = $tied;
    $tied = 1;
    return;
}

sub guarding { { my $guarded = Guarded->new } return }

sub adding {
    my ($one, $two) = (bless([1], 'Added'), bless([2], 'Added'));
    my $sum = $one + 1;
    my $text = "$one";
    my @sorted = sort { $a cmp $b } $two, $one;
    my $found = first { $one } 1;
    return;
}

sub loading { Loaded->new->something(1); Child->new->method; return }

sub jump { goto &jumped }
sub jumped { work(1) }

sub matching {
    our $in_pattern = 0;
    'aab' =~ /a(?{ in_code() })b/;
    (my $text = 'ab') =~ s/(.)/in_replacement()/ge;
    return;
}

sub in_code { work(1) }
sub in_replacement { work(1) }

sub writing {
    local $~ = 'LINE';
    open my $out, '>', '/dev/null' or die;
    my $old = select $out;
    $~ = 'LINE';
    write;
    select $old;
    return;
}

sub in_format { work(1) }

format LINE =
@<<<
in_format()
.

sub run {
    my ($seconds) = @_;
    my $finish = (times)[0] + $seconds;
    while ((times)[0] < $finish) {
        work(0);
        recurse(9);
        recurse(200);
        sorting();
        recurse_through_sort(5);
        callbacks();
        closures(1);
        catching();
        evaluating();
        warning();
        tying();
        guarding();
        adding();
        loading();
        jump();
        matching();
        writing();
    }
}

my ($seconds, $threads) = (@ARGV, 1);
if ($threads > 1) {
    require threads;
    $_->join for map { threads->create(\&run, $seconds) } 2 .. $threads;
}
run($seconds);
