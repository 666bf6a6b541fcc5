import type { Secrets } from '../../../core/secrets.ts'
import { RECORDER_PURPOSE } from './sample-wire.ts'

/** How long a credential is valid. It is used once, when a connection opens. */
const VALID_MS = 5 * 60_000
const HEADER = /^Bearer (\d{1,16})\.([A-Za-z0-9_-]{1,128})$/

/** Creates and verifies the credentials with which processes of the platform connect to recorders. */
export const createRecorderAuthorization = (secrets: Secrets) => ({
  /** Returns a header Authorization. */
  sign(nowMs: number): string {
    const expiresMs = Math.ceil(nowMs + VALID_MS)
    return `Bearer ${expiresMs}.${secrets.sign(RECORDER_PURPOSE, String(expiresMs))}`
  },

  verify(header: string | undefined, nowMs: number): boolean {
    const [, expiresMs = '', signature = ''] = HEADER.exec(header ?? '') ?? []
    return Number(expiresMs) > nowMs && secrets.verify(RECORDER_PURPOSE, expiresMs, signature)
  },
})
