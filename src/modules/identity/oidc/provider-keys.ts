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
 * Returns the development provider's signing key. The key is a file in `DATA_DIR`, so that tokens stay valid after a
 * restart. When several processes start at once, the first one that links its file wins, and all read that file.
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
  if (!stored) throw new Error(`${path} was removed while it was being created. Start again.`)
  return stored
}

/** Returns the public part of a signing key. */
export function publicJwk({ d: _private, ...rest }: SigningKey) {
  return rest
}

function read(path: string): SigningKey | undefined {
  try {
    return KeyFile.parse(JSON.parse(readFileSync(path, 'utf8'))).keys[0]
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return undefined
    throw new Error(
      `${path} contains no valid signing key. Remove the file, and the next start creates a new key.`,
      { cause },
    )
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
