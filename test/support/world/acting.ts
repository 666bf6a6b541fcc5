import type { Caller } from '../../../src/core/http/endpoint.ts'

/** Returns what a caller is who acts for the own personal organization, with a session token. */
export const actingForSelf = (userId: string): Pick<Caller, 'userId' | 'organization' | 'credential'> => ({
  userId,
  organization: { id: userId, role: 'owner', groupIds: null },
  credential: { kind: 'session', expiresAt: new Date(8.64e15), token: '', fromCookie: false },
})
