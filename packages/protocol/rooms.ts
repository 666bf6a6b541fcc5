/** @internal Builds the names of the hub's Socket.IO rooms. No other module spells them. */
export const rooms = {
  /** Sockets that watch a session: its log and typing events. */
  session: (sessionId: string) => `session:${sessionId}`,
  /** All sockets of a user. */
  user: (userId: string) => `user:${userId}`,
  /** Sockets of a user that may read notifications. */
  inbox: (userId: string) => `inbox:${userId}`,
  /** Sockets of an organization, or of a client, that watch all its robots. */
  ownRobots: (ownerId: string) => `robots:owner:${ownerId}`,
  /** Sockets of members that watch the robots of a group. */
  robotGroup: (groupId: string) => `robots:group:${groupId}`,
  /** Sockets of operators that watch robots, one room for each type that they are certified for. */
  robotType: (robotType: string) => `robots:type:${robotType}`,
  /** Sockets of operators that watch robots without a certification requirement. */
  openRobots: 'robots:open',
  /** Sockets that an API key opened. The hub closes them when the key is revoked. */
  apiKey: (apiKeyId: string) => `key:${apiKeyId}`,
} as const
