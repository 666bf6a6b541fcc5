/**
 * The buses that tests of the hub run over: `ALL_BUSES=true`, which test/full sets, adds the one in memory. Every other world
 * of test/fast uses that one.
 */
export const buses = process.env.ALL_BUSES ? (['memory', 'redis'] as const) : (['redis'] as const)
