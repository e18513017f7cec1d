#include "inject/rival.h"

#define ENOUGH_LOOKS 4u /* one after the other, each with launches */

uint32_t gp_rival_launched;

bool gp_rival_is_found(uint32_t requests, bool are_out)
{
	static uint32_t last_requests, looks;
	static bool were_out, is_said;
	bool launched = gp_swap32(&gp_rival_launched, 0) != 0;
	bool is_ours = are_out || were_out || requests != last_requests;

	last_requests = requests;
	were_out = are_out;
	if (is_ours)
		looks = 0;
	else
		looks += launched;
	if (is_said || looks < ENOUGH_LOOKS)
		return false;
	is_said = true;
	return true;
}
