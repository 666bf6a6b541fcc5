/** Each robot runs physics at 50 steps per second. Run several processes for more robots. */
export const MAX_ROBOTS = 100
