/*
 * The bell, and the writer's sleep: two threads put records in a ring each and wait where it is full, one thread ends the
 * recording, and no time-out ever wakes the writer.
 *
 * Whatever the order of steps: nobody waits for ever, and where all is quiet no ring is more than half full and an end that
 * was asked for has come.  (A time-out does exist: it is for what stays below the half.)
 *
 * What stands for what:
 *   ring()      gp_eventcount_notify(), gp_sys_wake()                       collector/eventcount.c, collector/sys.c
 *   wait()      gp_eventcount_wait(), gp_sys_wait()                       collector/eventcount.c, collector/sys.c
 *   producer    put(), wait_and_put(): it sleeps and looks again    collector/thread.c
 *   writer      run(), pass()                                       collector/writer.c
 *   stopper     gp_writer_stop()                                    collector/writer.c
 *
 * The kernel compares the word and falls asleep in one step, and wakes at most one sleeper.
 */
#define SLOTS   2
#define RECORDS 3

byte head[2], tail[2];
bool notified, asleep, stop, done;

/* `was` is what the swap found. */
inline ring()
{
#ifdef BUG_WAKES_BEFORE_RAISING
	if
	:: !notified -> asleep = false; notified = true
	:: else
	fi
#else
	atomic { was = notified; notified = true };
	if
	:: !was -> asleep = false
	:: else
	fi
#endif
}

inline wait()
{
#ifdef BUG_FORGETS_AN_EARLY_RING
	notified = false; was = false;
#else
	atomic { was = notified; notified = false };
#endif
	if
	:: was
	:: else ->
#ifdef BUG_SLEEPS_WITHOUT_LOOKING
		asleep = true; !asleep;
#else
		if
		:: atomic { !notified -> asleep = true }; !asleep
		:: notified
		:: true /* woken by an earlier ring */
		fi;
#endif
		notified = false
	fi
}

inline is_half_full(r)
{
	half = (head[r] - tail[r] > SLOTS / 2)
}

proctype producer(byte r)
{
	bool was, half;

	do
	:: head[r] == RECORDS -> break
	:: head[r] < RECORDS && head[r] - tail[r] < SLOTS ->
		head[r]++;
		is_half_full(r);
		if
		:: half -> ring()
		:: else
		fi
	:: head[r] < RECORDS && head[r] - tail[r] == SLOTS ->
		ring();
		head[r] - tail[r] < SLOTS
	od
}

proctype writer()
{
	bool was;
	byte h;

	do
	:: stop -> break
	:: else ->
		h = head[0]; tail[0] = h;
		h = head[1]; tail[1] = h;
#ifdef BUG_HEARS_ONLY_AFTER_THE_PASS
		notified = false;
#endif
		wait()
	od;
	done = true
}

proctype stopper()
{
	bool was;

#ifdef BUG_RINGS_BEFORE_STOPPING
	ring();
	stop = true;
#else
	stop = true;
	ring();
#endif
	done
}

init {
	atomic {
		run producer(0); run producer(1); run writer();
		if
		:: run stopper()
		:: true /* the program runs on */
		fi
	}
end:	timeout ->
	assert(head[0] == RECORDS || stop);
	assert(head[1] == RECORDS || stop);
	assert(stop || (head[0] - tail[0] <= SLOTS / 2 && head[1] - tail[1] <= SLOTS / 2));
	assert(!stop || done)
}
