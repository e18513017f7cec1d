/* dice: numbers without a pattern, the same in each run; xorshift64. */
#ifndef TESTS_LIB_DICE_H
#define TESTS_LIB_DICE_H

#include <stdint.h>

#define DICE 88172645463325252u /* to begin with; anything but 0 */

static inline uint64_t roll_dice(uint64_t *dice)
{
	*dice ^= *dice << 13;
	*dice ^= *dice >> 7;
	*dice ^= *dice << 17;
	return *dice;
}

#endif
