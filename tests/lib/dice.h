/* dice: pseudo-random numbers by xorshift64, the same in each run. */
#ifndef TESTS_LIB_DICE_H
#define TESTS_LIB_DICE_H

#include <stdint.h>

#define DICE 88172645463325252u /* the seed; any number but 0 */

static inline uint64_t roll_dice(uint64_t *dice)
{
	*dice ^= *dice << 13;
	*dice ^= *dice >> 7;
	*dice ^= *dice << 17;
	return *dice;
}

#endif
