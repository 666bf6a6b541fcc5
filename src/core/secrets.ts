import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  randomBytes,
  randomUUID,
  timingSafeEqual,
} from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Signs and encrypts with keys derived from one root key, a different key for each purpose. */
export interface Secrets {
  /** Returns the HMAC-SHA-256 of the text under the purpose's key, base64url. */
  sign(purpose: string, text: string): string
  /** Verifies a signature of `sign` in constant time. */
  verify(purpose: string, text: string, signature: string): boolean
  /** Encrypts a text (AES-256-GCM, base64url). Only the same `context` decrypts it. */
  seal(purpose: string, text: string, context: string): string
  /** Decrypts; returns undefined when the text was changed, or sealed with another context or root key. */
  open(purpose: string, sealed: string, context: string): string | undefined
}

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

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
    // A signing key must not also encrypt: sealing derives a separate key.
    seal: (purpose, text, context) => encrypt(keyFor(`${purpose}:seal`), text, context),
    open: (purpose, sealed, context) => decrypt(keyFor(`${purpose}:seal`), sealed, context),
  }
}

function encrypt(key: Buffer, text: string, context: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(context))
  const content = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), content]).toString('base64url')
}

function decrypt(key: Buffer, sealed: string, context: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  try {
    const content = bytes.subarray(NONCE_BYTES + TAG_BYTES)
    return Buffer.concat([decipher.update(content), decipher.final()]).toString('utf8')
  } catch {
    return undefined // the authentication tag does not match
  }
}

/** Returns the root key stored in `DATA_DIR`, creating it at first use. Safe when several processes start at once. */
export function loadOrCreateRootKey(dataDir: string): string {
  const path = join(dataDir, 'secret-key')
  mkdirSync(dataDir, { recursive: true })
  const draft = `${path}.${randomUUID()}`
  writeFileSync(draft, randomBytes(32).toString('base64url'), { mode: 0o600 })
  try {
    linkSync(draft, path) // atomic: the first process wins
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) throw cause
  } finally {
    unlinkSync(draft)
  }
  return readFileSync(path, 'utf8')
}
