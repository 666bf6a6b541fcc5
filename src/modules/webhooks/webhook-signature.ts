import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
/** Standard Webhooks requires 24 to 64 bytes. */
const SECRET_BYTES = 32

/** Returns a new secret in the format of Standard Webhooks. */
export const generateSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64')

/**
 * Returns the `webhook-signature` header, with a signature per secret (Standard Webhooks 1.0, symmetric).
 * @param timestamp seconds since 1970
 */
export function signatures(
  secrets: readonly string[],
  message: { id: string; timestamp: number; body: string },
): string {
  const { id, timestamp, body } = message
  return secrets
    .map((secret) => Buffer.from(secret.slice(PREFIX.length), 'base64'))
    .map((key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`)
    .join(' ')
}
