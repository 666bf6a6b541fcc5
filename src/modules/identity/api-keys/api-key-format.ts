import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** The prefix of every API key. It distinguishes API keys from session tokens. */
export const API_KEY_PREFIX = 'svc_live_'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET_BYTES = 32
/** The number of base62 digits that encode 32 bytes: 62^43 > 2^256. */
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6
const SHAPE = new RegExp(`^${API_KEY_PREFIX}[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`)

/** Returns a new key: prefix, 256 random bits, checksum. */
export function generateApiKey(): string {
  const secret = BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`)
  const body = API_KEY_PREFIX + base62(secret, SECRET_LENGTH)
  return body + checksum(body)
}

/** Returns whether the text has the format and checksum of a key. It rejects typos and guesses without a database query. */
export function looksLikeApiKey(text: string): boolean {
  if (!SHAPE.test(text)) return false
  return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
}

/** Returns the hash that is stored. A key has 256 random bits, so an unsalted hash cannot be reversed. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

const checksum = (body: string) => base62(BigInt(crc32(body)), CHECKSUM_LENGTH)

function base62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest /= 62n) text = DIGITS[Number(rest % 62n)] + text
  return text
}
