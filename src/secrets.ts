import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Signs with keys derived from one root, a different key for each purpose. */
export interface Secrets {
  /** HMAC-SHA-256 of the text under the purpose's key, base64url. */
  sign(purpose: string, text: string): string
  /** Constant-time check of a signature made by `sign`. */
  verify(purpose: string, text: string, signature: string): boolean
}

export function createSecrets(rootKey: string): Secrets {
  const keys = new Map<string, Buffer>()
  const keyFor = (purpose: string) => {
    const known = keys.get(purpose) ?? createHmac('sha256', rootKey).update(`wheelhouse:${purpose}`).digest()
    keys.set(purpose, known)
    return known
  }
  const mac = (purpose: string, text: string) => createHmac('sha256', keyFor(purpose)).update(text).digest()
  return {
    sign: (purpose, text) => mac(purpose, text).toString('base64url'),
    verify: (purpose, text, signature) => {
      const given = Buffer.from(signature, 'base64url')
      const wanted = mac(purpose, text)
      return given.length === wanted.length && timingSafeEqual(given, wanted)
    },
  }
}

/** The root key kept in `DATA_DIR`, made on first use. Safe when several processes start at once. */
export function loadOrCreateRootKey(dataDir: string): string {
  const path = join(dataDir, 'secret-key')
  mkdirSync(dataDir, { recursive: true })
  const draft = `${path}.${randomUUID()}`
  writeFileSync(draft, randomBytes(32).toString('base64url'), { mode: 0o600 })
  try {
    linkSync(draft, path) // appears whole or not at all; the first process wins
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) throw cause
  } finally {
    unlinkSync(draft)
  }
  return readFileSync(path, 'utf8')
}
