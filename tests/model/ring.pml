/*
 * The protocol of a ring: a thread puts records and is interrupted by a signal handler that puts one too, the writer moves
 * what is published to the file, and a reader looks at all of it.  With -DSHARED it is the ring that threads share: the
 * thread, its signal handler and a second thread put records under the lock.
 *
 * Whatever the order of steps: what was published when the reader began is read, each slot once, whole and in order, and
 * nothing that was not published.  A kill needs no step of its own: it is any order of steps in which only the reader's
 * are left.  Memory is sequentially consistent here; memory orders are orders_test.cc's affair.
 *
 * What stands for what:
 *   put()       gp_ring_put_quick(), gp_ring_put()                    collector/ring.h, collector/ring.c
 *   owner       gp_emit(), emit_slowly(), put_shared()                collector/thread.c
 *   handler     emit_item(), emit_nested(), put_shared()              collector/thread.c
 *   other       put_shared()                                          collector/thread.c
 *   writer      gp_drain_ring(): copy, append, free                   collector/drain.c
 *   reader      add_ring(), drop_given_back(), gp_rings_cover()       report/trace/recover.c, in the order of report/trace/recover.h
 *
 * Record n has 2 slots where n is odd, else 1.  Slots hold 1, 2, 3, ... in the order in which they must be read: position p
 * holds p + 1, and a record begins at p unless p % 3 is 1.  Of the steps in an `atomic` only one is on a word that others
 * write.  A chunk that a kill tears does not count (its checksum is wrong), so that appending is one step, too.
 *
 * -DBUG_... puts one fault in; spin_test.py builds each, and each must be found.
 */
#define SLOTS   4
#ifdef SHARED
#define RECORDS 1 /* of the owner */
#else
#define RECORDS 3
#endif

byte slot[SLOTS];
byte head, tail, cached_tail;
byte file_end;  /* the chunks cover the positions before that */
byte published; /* records; this and the next only for numbering them and for the assertions */
byte given_up;  /* the slots before this were perhaps never in the file: a loss, and counted */
bool busy, lock, owner_shares, interrupted;

#define SLOT(p)       slot[(p) % SLOTS]
#define LENGTH(n)     (1 + (n) % 2)
#define FIRST(n)      (3 * (((n) - 1) / 2) + ((n) - 1) % 2 * 2)
#define PUBLISHED     FIRST(published + 1)
#define IS_WHOLE(p)   ((p) % 3 != 1)
#ifdef BUG_ONE_SLOT_TOO_MANY
#define ROOM          (SLOTS + 1)
#else
#define ROOM          SLOTS
#endif

inline write()
{
	do
	:: atomic { i < LENGTH(n) -> SLOT(h + i) = FIRST(n) + i + 1; i++ }
	:: i == LENGTH(n) -> break
	od
}

inline publish()
{
	atomic { head = h + LENGTH(n); published = n }
}

/* Where there is no room the record is lost, and counted. */
inline put()
{
	atomic {
		n = published + 1;
		i = 0;
		if
		:: h + LENGTH(n) - cached_tail <= SLOTS / 2
		:: else -> cached_tail = tail
		fi
	};
	if
	:: h + LENGTH(n) - cached_tail > ROOM
	:: else ->
#ifdef BUG_PUBLISHES_BEFORE_WRITING
		publish();
		write()
#else
		write();
		publish()
#endif
	fi;
	atomic { h = 0; i = 0; n = 0 }
}

/* A handler whose thread has the lock does not try; others try for a while only: then the record is lost, and counted. */
inline put_shared(sharing)
{
#ifdef BUG_LOADS_HEAD_BEFORE_THE_LOCK
	h = head;
#endif
	if
#ifdef BUG_TAKES_NO_LOCK
	:: !sharing ->
#else
	:: atomic { !sharing && !lock -> lock = true };
#endif
		sharing = true;
#ifndef BUG_LOADS_HEAD_BEFORE_THE_LOCK
		h = head;
#endif
#ifdef BUG_UNLOCKS_BEFORE_PUBLISHING
		lock = false;
#endif
		put();
		sharing = false;
		lock = false
	:: sharing || lock -> h = 0
	fi
}

active proctype owner() provided (!interrupted)
{
	byte h, i, n, round;

	do
	:: round == RECORDS -> break
	:: else ->
#ifdef SHARED
		put_shared(owner_shares);
#else
#ifdef BUG_LOADS_HEAD_BEFORE_BUSY
		h = head;
		busy = true;
#else
		busy = true;
		h = head;
#endif
		put();
		busy = false;
#endif
		round++
	od
}

/* Within the owner's thread: the owner stands still meanwhile.  Where it is busy with its own ring, the handler takes the
 * shared one. */
active proctype handler()
{
	byte h, i, n;

	interrupted = true;
	if
#ifdef SHARED
	:: true -> put_shared(owner_shares)
#else
#ifdef BUG_HANDLER_IGNORES_BUSY
	:: true ->
#else
	:: !busy ->
#endif
		h = head;
		put()
	:: busy
#endif
	fi;
	interrupted = false
}

#ifdef SHARED
active proctype other()
{
	byte h, i, n, round;
	bool shares;

	do
	:: round == 2 -> break
	:: else -> put_shared(shares); round++
	od
}
#endif

inline copy()
{
	p = tail;
	do
	:: p == h -> break
	:: atomic { p < h -> assert(SLOT(p) == p + 1); p++ }
	:: p > tail && p < h && IS_WHOLE(p) -> break /* the chunk is full */
	od
}

active proctype writer()
{
	byte h, p;

	do
	:: head != tail ->
		atomic { h = head; assert(h - tail <= SLOTS && IS_WHOLE(h)) };
#ifdef BUG_FREES_BEFORE_COPYING
		p = h;
		tail = h;
		assert(SLOT(p - 1) == p);
		file_end = p;
#else
		copy();
		if
#ifdef BUG_FREES_BEFORE_APPENDING
		:: tail = p; file_end = p
#else
		:: file_end = p; tail = p
#endif
		:: true /* the disk is full: the slots stay */
#ifndef SHARED
		:: h - tail > SLOTS / 2 -> given_up = p; tail = p /* it is full for long */
#endif
		fi;
#endif
		atomic { h = 0; p = 0 }
	od
}

/* Once.  It begins when it looks at `head`, and the file is at its shortest as soon as it may be read. */
active proctype reader()
{
	byte h, t, f, p, begun, wrong_end; /* the last slot copied with something else in it, + 1 */

#ifdef BUG_READS_THE_FILE_FIRST
	f = file_end;
#endif
#ifdef BUG_LOADS_TAIL_BEFORE_HEAD
	t = tail;
#endif
	atomic { h = head; begun = h };
#ifndef BUG_LOADS_TAIL_BEFORE_HEAD
	t = tail;
#endif
	if
	:: t > h || h - t > SLOTS -> h = t /* nothing that could be taken */
	:: else
	fi;
	p = t;
	do
	:: atomic { p < h && SLOT(p) == p + 1 -> p++ }
	:: atomic { p < h && SLOT(p) != p + 1 -> p++; wrong_end = p }
	:: p == h -> break
	od;
	atomic {
#ifndef BUG_LOADS_TAIL_ONCE
		t = tail;
#endif
#ifndef BUG_READS_THE_FILE_FIRST
		f = file_end;
#endif
		p = (t > f -> t : f);
		assert(wrong_end <= p && p <= (f > given_up -> f : given_up));
		p = (h > p -> h : p);
		assert(p >= begun && p <= PUBLISHED && IS_WHOLE(p))
	}
}
