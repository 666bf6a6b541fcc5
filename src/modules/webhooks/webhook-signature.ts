import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'

/** Standard Webhooks requires 24 to 64 bytes. */
const SECRET_BYTES = 32

/** Returns a new secret in the format of Standard Webhooks. */
export const generateSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`

/**
 * Returns the `webhook-signature` header, with a signature per secret (Standard Webhooks 1.0, symmetric).
 * @param timestamp seconds since 1970
 */
export function signatures(
  secrets: readonly string[],
  message: { id: string; timestamp: number; body: string },
): string {
  const { id, timestamp, body } = message
  const at = new Date(timestamp * 1_000)
  return secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' ')
}
