/** Close codes of the gateway's WebSockets. `reconnect` says whether a client should connect again, with jitter. */
export const closeCodes = {
  replaced: { code: 4000, reason: 'replaced by a newer connection', reconnect: false },
  protocolError: { code: 4002, reason: 'protocol error', reconnect: false },
  tooSlow: { code: 4008, reason: 'too slow to read', reconnect: true },
  robotMoved: { code: 4009, reason: 'robot moved to another gateway', reconnect: true },
  tooFast: { code: 4029, reason: 'too many frames', reconnect: false },
  credentialRevoked: { code: 4401, reason: 'credential revoked', reconnect: false },
  notAllowed: { code: 4403, reason: 'not allowed', reconnect: false },
  ticketVoid: { code: 4408, reason: 'ticket no longer valid, fetch a new one', reconnect: true },
  sessionOver: { code: 4410, reason: 'session over', reconnect: false },
  /** A handler of the gateway failed. The gateway closes the connection and continues to serve others. */
  internalError: { code: 4500, reason: 'internal error, reconnect', reconnect: true },
  draining: { code: 4503, reason: 'draining, reconnect', reconnect: true },
} as const

export type CloseReason = keyof typeof closeCodes

/** The connection broke without a closing handshake. */
const ABNORMAL_CLOSURE = 1006

/** Returns whether a client should connect again after this close code; false for an unknown code. */
export function shouldReconnect(code: number): boolean {
  if (code === ABNORMAL_CLOSURE) return true
  return Object.values(closeCodes).some((entry) => entry.code === code && entry.reconnect)
}
