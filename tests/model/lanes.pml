/*
 * Rings that threads take, let go and take again: whose a record is.
 *
 * Threads one after another or at once take one of the rings, put records and end; the writer drains, and frees the rings
 * whose thread is gone; a reader looks at one ring while this goes on.
 *
 * Whatever the order of steps: no ring has two threads, each chunk and each slot that is read is said to be of the thread
 * and under the ring number with which it was put, and there are never fewer free rings than the count says.
 *
 * What stands for what:
 *   thread      gp_arena_take(), bind(), gp_arena_close_lane()      collector/arena.c
 *   writer      gp_drain_ring(), recycle_lane(), gp_arena_recycle() collector/drain.c, collector/writer.c, collector/arena.c
 *   reader      add_ring(), drop_given_back()                       report/trace/recover.c
 */
#define LANES   1
#define THREADS 2
#define SLOTS   2
#define FREE    0
#define TAKEN   1
#define CLOSING 2

byte state[LANES], ring[LANES], thread[LANES], head[LANES], tail[LANES];
byte slot[LANES * SLOTS]; /* whose record it is */
byte number[THREADS + 1]; /* of the ring that a thread took */
byte file_end[LANES];
byte free_lanes = LANES, last_ring;
byte owners[LANES]; /* threads that put records there now */

#define SLOT(l, p) slot[(l) * SLOTS + (p) % SLOTS]

inline bind()
{
	atomic { last_ring++; mine = last_ring; number[me] = mine };
	thread[l] = me;
	ring[l] = mine
}

inline use()
{
	owners[l]++;
	assert(owners[l] == 1);
	i = 0;
	do
	:: i < 2 && head[l] - tail[l] < SLOTS -> SLOT(l, head[l]) = me; head[l]++; i++
	:: true -> break
	od;
	owners[l]--;
	state[l] = CLOSING
}

proctype user(byte me)
{
	byte l, i, mine;

	do
	:: free_lanes > 0 && l < LANES ->
#ifdef BUG_LOOKS_THEN_TAKES
		if
		:: state[l] == FREE -> state[l] = TAKEN; free_lanes--; bind(); use(); break
		:: state[l] != FREE -> l++
		fi
#else
		if
		:: atomic { state[l] == FREE -> state[l] = TAKEN };
			assert(free_lanes > 0);
			free_lanes--;
			bind();
			use();
			break
		:: state[l] != FREE -> l++
		fi
#endif
	:: else -> break /* it uses the shared ring */
	od
}

/* The slots before `p` are copied: whose chunk is it? */
inline append()
{
	chunk_ring = ring[l];
	chunk_thread = thread[l];
	assert(number[owner] == chunk_ring && owner == chunk_thread);
	file_end[l] = h;
	tail[l] = h
}

proctype writer()
{
	byte l, h, p, owner, chunk_ring, chunk_thread;

	do
	:: head[l] != tail[l] ->
		h = head[l];
		p = tail[l];
		owner = SLOT(l, p);
		do
		:: p < h -> assert(SLOT(l, p) == owner); p++
		:: else -> break
		od;
		append();
		h = 0; p = 0; owner = 0; chunk_ring = 0; chunk_thread = 0
#ifdef BUG_FREES_WHAT_IS_NOT_DRAINED
	:: state[l] == CLOSING ->
#else
	:: state[l] == CLOSING && head[l] == tail[l] ->
#endif
#ifdef BUG_FREES_BEFORE_COUNTING
		state[l] = FREE;
		free_lanes++
#else
		free_lanes++;
		state[l] = FREE
#endif
	od
}

proctype reader()
{
	byte l, r, t, h, p, after, wrong_end; /* the last slot copied with another thread's record in it, + 1 */

	r = ring[l];
	t = thread[l];
	h = head[l];
	p = tail[l];
	if
	:: r == 0 || p > h || h - p > SLOTS -> p = h
	:: else
	fi;
	do
	:: p < h && SLOT(l, p) == t && number[t] == r -> p++
	:: p < h && (SLOT(l, p) != t || number[t] != r) -> p++; wrong_end = p
	:: p == h -> break
	od;
	after = ring[l];
	atomic {
#ifndef BUG_READER_IGNORES_A_NEW_OWNER
		if
		:: after != r -> wrong_end = 0
		:: else
		fi;
#endif
		assert(wrong_end <= tail[l])
	}
}

init {
	atomic { run user(1); run user(2); run writer(); run reader() }
}
