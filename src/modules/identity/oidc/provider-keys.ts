import { randomUUID } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose'
import { z } from 'zod'

export const SIGNING_ALGORITHM = 'ES256'

const SigningKey = z.object({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string(),
  y: z.string(),
  d: z.string(),
  kid: z.string(),
  alg: z.literal(SIGNING_ALGORITHM),
  use: z.literal('sig'),
})
export type SigningKey = z.infer<typeof SigningKey>
const KeyFile = z.object({ keys: z.tuple([SigningKey]) })

/**
 * The development provider's signing key, kept in `DATA_DIR` so that tokens outlive a restart. When several
 * processes start at once, the first to link its file wins and all read that one.
 */
export async function loadOrCreateSigningKey(dataDir: string): Promise<SigningKey> {
  const path = join(dataDir, 'idp-jwks.json')
  const known = read(path)
  if (known) return known
  mkdirSync(dataDir, { recursive: true })
  const draft = `${path}.${randomUUID()}`
  writeFileSync(draft, JSON.stringify({ keys: [await generate()] }), { mode: 0o600 })
  try {
    linkSync(draft, path)
  } catch (cause) {
    if (!hasCode(cause, 'EEXIST')) throw cause
  } finally {
    unlinkSync(draft)
  }
  const stored = read(path)
  if (!stored) throw new Error(`${path} vanished while it was being made`)
  return stored
}

/** The part of a signing key that everybody may know. */
export function publicJwk({ d: _private, ...rest }: SigningKey) {
  return rest
}

function read(path: string): SigningKey | undefined {
  try {
    return KeyFile.parse(JSON.parse(readFileSync(path, 'utf8'))).keys[0]
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return undefined
    throw new Error(`${path} holds no usable signing key; remove it to have a new one made`, { cause })
  }
}

async function generate(): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair(SIGNING_ALGORITHM, { extractable: true })
  const jwk = await exportJWK(privateKey)
  return SigningKey.parse({
    ...jwk,
    kid: await calculateJwkThumbprint(jwk),
    alg: SIGNING_ALGORITHM,
    use: 'sig',
  })
}

const hasCode = (cause: unknown, code: string) =>
  cause instanceof Error && 'code' in cause && cause.code === code
