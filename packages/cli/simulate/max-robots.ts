/** Each is a room with physics, fifty steps a second: more of them belong into several processes. */
export const MAX_ROBOTS = 100
