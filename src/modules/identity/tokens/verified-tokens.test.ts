import { describe, expect, test, vi } from 'vitest'
import { TOKEN_TOLERANCE_MS, type TokenClaims } from './tokens.ts'
import { rememberVerified } from './verified-tokens.ts'

const START_MS = 1_000_000
const MINUTE_MS = 60_000

/** Creates a verifier whose tokens `<subject>` are valid for an hour; `bad` is not valid. */
function createFixture(expiresMs = START_MS + 60 * MINUTE_MS) {
  const clock = { ms: START_MS }
  const verify = vi.fn(async (subject: string): Promise<TokenClaims> => {
    if (subject === 'bad' || clock.ms >= expiresMs + TOKEN_TOLERANCE_MS) throw new Error('not valid')
    return { issuer: 'issuer', subject, emailVerified: false, expiresAt: new Date(expiresMs) }
  })
  return { clock, verify, remembered: rememberVerified(verify, () => clock.ms) }
}

describe('a verified token', () => {
  test('is verified once a minute', async () => {
    const { clock, verify, remembered } = createFixture()
    for (let count = 0; count < 3; count++) expect((await remembered('ada')).subject).toBe('ada')
    expect(verify).toHaveBeenCalledTimes(1)
    clock.ms += MINUTE_MS
    expect((await remembered('ada')).subject).toBe('ada')
    expect(verify).toHaveBeenCalledTimes(2)
  })

  test('is not valid after its expiry', async () => {
    const { clock, remembered } = createFixture(START_MS + 1_000)
    await remembered('ada')
    clock.ms += 1_000 + TOKEN_TOLERANCE_MS - 1
    await remembered('ada')
    clock.ms += 1
    await expect(remembered('ada')).rejects.toThrow('not valid')
  })

  test('does not make another token valid', async () => {
    const { remembered } = createFixture()
    await remembered('ada')
    expect((await remembered('bob')).subject).toBe('bob')
    await expect(remembered('bad')).rejects.toThrow('not valid')
    await expect(remembered('bad')).rejects.toThrow('not valid')
  })
})

test('the oldest of more than 10,000 tokens is verified again', async () => {
  const { verify, remembered } = createFixture()
  for (let number = 0; number <= 10_000; number++) await remembered(String(number))
  await remembered('10000')
  expect(verify).toHaveBeenCalledTimes(10_001)
  await remembered('0')
  expect(verify).toHaveBeenCalledTimes(10_002)
})
