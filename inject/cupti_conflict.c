#include "inject/cupti_conflict.h"

#define ENOUGH_POLLS   4u /* with launches, without contrary evidence in between */
#define ENOUGH_TIME_NS 1000000000u

static struct {
	uint32_t requests; /* at the last poll */
	uint64_t launches;
	bool were_out;
	bool is_logged;
	uint32_t polls; /* with launches, since the last evidence that CUPTI's records are ours */
	uint64_t since_ns;
} evidence;

static bool is_sign_of_ours(uint32_t requests, bool are_out)
{
	bool is_ours = are_out || evidence.were_out || requests != evidence.requests;

	evidence.requests = requests;
	evidence.were_out = are_out;
	return is_ours;
}

static bool is_enough(uint64_t now_ns)
{
	return evidence.polls >= ENOUGH_POLLS && now_ns - evidence.since_ns >= ENOUGH_TIME_NS;
}

bool gp_cupti_conflict_is_found(uint32_t requests, bool are_out, uint64_t launches, uint64_t now_ns)
{
	bool launched = launches != evidence.launches;

	evidence.launches = launches;
	if (is_sign_of_ours(requests, are_out)) {
		evidence.polls = 0;
		return false;
	}
	if (!launched)
		return false;
	if (evidence.polls++ == 0)
		evidence.since_ns = now_ns;
	if (evidence.is_logged || !is_enough(now_ns))
		return false;
	evidence.is_logged = true;
	return true;
}
