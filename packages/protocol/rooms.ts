/** @internal Names of Socket.IO rooms, which only hubs use; the only place that spells them. */
export const rooms = {
  /** Watchers of a session: its log and typing. */
  session: (sessionId: string) => `session:${sessionId}`,
  /** Every socket of a user: notifications. */
  user: (userId: string) => `user:${userId}`,
  /** A client's sockets that asked for their robots. */
  ownRobots: (ownerId: string) => `robots:owner:${ownerId}`,
  /** Operators' sockets that asked for robots, by the types they are certified for. */
  robotType: (robotType: string) => `robots:type:${robotType}`,
  /** Operators' sockets that asked for robots: those that require no certification. */
  openRobots: 'robots:open',
  /** Sockets opened with an API key; closed when it is revoked. */
  apiKey: (apiKeyId: string) => `key:${apiKeyId}`,
} as const
