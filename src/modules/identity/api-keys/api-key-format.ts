import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** What every API key begins with; also how it is told apart from a session token. */
export const API_KEY_PREFIX = 'svc_live_'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET_BYTES = 32
/** Base62 digits that hold any 32 bytes: 62^43 > 2^256. */
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6
const SHAPE = new RegExp(`^${API_KEY_PREFIX}[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`)

/** A new key: prefix, 256 random bits, checksum. */
export function generateApiKey(): string {
  const secret = BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`)
  const body = API_KEY_PREFIX + base62(secret, SECRET_LENGTH)
  return body + checksum(body)
}

/** Whether the text can be a key at all. Typos and inventions end here, without a database query. */
export function looksLikeApiKey(text: string): boolean {
  if (!SHAPE.test(text)) return false
  return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
}

/** What is stored of a key. It holds 256 random bits, so a plain hash cannot be guessed back. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

const checksum = (body: string) => base62(BigInt(crc32(body)), CHECKSUM_LENGTH)

function base62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest /= 62n) text = DIGITS[Number(rest % 62n)] + text
  return text
}
