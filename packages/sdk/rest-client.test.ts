import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ApiError, answerOf, createRestClient, everyEntry, type RestClientOptions } from './index.ts'

/** Answers in turn; the last one on and on. */
type Script = readonly (() => Response)[]

const answer =
  (status: number, body: object = {}, headers: Record<string, string> = {}) =>
  () =>
    Response.json(body, { status, headers })
const noNetwork = () => {
  throw new TypeError('fetch failed')
}

/** A client whose requests end here, with what was sent and when. */
function client(script: Script, options: Partial<RestClientOptions> = {}) {
  const sent: { method: string; key: string | null; token: string | null; body: string; atMs: number }[] = []
  const rest = createRestClient({
    baseUrl: 'http://hub.test',
    fetch: async (request) => {
      const { method, headers } = request
      const [key, token] = [headers.get('Idempotency-Key'), headers.get('Authorization')]
      sent.push({ method, key, token, body: await request.text(), atMs: Date.now() })
      return (script[sent.length - 1] ?? script.at(-1))!()
    },
    ...options,
  })
  const read = (init: { signal?: AbortSignal } = {}) => answerOf(rest.GET('/api/client/robots', init))
  const sendMessage = () =>
    answerOf(
      rest.POST('/api/sessions/{id}/messages', { params: { path: { id: 's' } }, body: { body: 'Hello' } }),
    )
  const pause = () =>
    answerOf(rest.PATCH('/api/sessions/{id}', { params: { path: { id: 's' } }, body: { action: 'pause' } }))
  return { sent, rest, read, say: sendMessage, pause }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Lets all waiting pass. */
async function settled<T>(pending: Promise<T>): Promise<T> {
  pending.catch(() => {})
  await vi.runAllTimersAsync()
  return pending
}

describe('with retry', () => {
  const retry = { random: () => 0 }

  test('reads again when there is no network and when the platform is not ready', async () => {
    const { sent, read } = client([noNetwork, answer(503), answer(502), answer(200, [])], { retry })
    expect(await settled(read())).toEqual([])
    expect(sent).toHaveLength(4)
  })

  test('gives up after as many attempts as are allowed, with the last refusal', async () => {
    const { sent, read } = client([answer(503, { error: 'Not ready' })], { retry: { ...retry, attempts: 2 } })
    await expect(settled(read())).rejects.toMatchObject({ status: 503, message: 'Not ready' })
    expect(sent).toHaveLength(2)

    const cut = client([noNetwork], { retry })
    await expect(settled(cut.read())).rejects.toMatchObject({ status: 0, name: 'ApiError' })
    expect(cut.sent).toHaveLength(4)
  })

  test('comes back when the platform says, and not at all when that is too late', async () => {
    const { sent, pause } = client([answer(429, {}, { 'Retry-After': '7' }), answer(200)], { retry })
    await settled(pause())
    expect(sent).toHaveLength(2)
    expect(sent[1]!.atMs - sent[0]!.atMs).toBe(7_000)

    const late = client([answer(429, {}, { 'Retry-After': '31' })], { retry })
    await expect(settled(late.read())).rejects.toMatchObject({ status: 429, retryAfterS: 31 })
    expect(late.sent).toHaveLength(1)
  })

  test('posts again with the same key and body, so that it is carried out once', async () => {
    const { sent, say: sendMessage } = client(
      [noNetwork, answer(409, {}, { 'Retry-After': '1' }), answer(201)],
      { retry },
    )
    await settled(sendMessage())
    expect(sent.map(({ body }) => body)).toEqual(Array(3).fill('{"body":"Hello"}'))
    expect(sent[0]!.key).toMatch(/^[\w-]{36}$/)
    expect(new Set(sent.map(({ key }) => key)).size).toBe(1)
  })

  test('sends once what could have an effect twice, and what is refused for good', async () => {
    const { sent, pause } = client([answer(503)], { retry })
    await expect(settled(pause())).rejects.toThrow(ApiError)
    expect(sent).toHaveLength(1)

    const refused = client([answer(409)], { retry })
    await expect(settled(refused.say())).rejects.toMatchObject({ status: 409 })
    expect(refused.sent).toHaveLength(1)
  })

  test('stops waiting when the caller gives up', async () => {
    const giveUp = new AbortController()
    const { sent, read } = client([answer(429, {}, { 'Retry-After': '20' })], { retry })
    const pending = read({ signal: giveUp.signal })
    setTimeout(() => giveUp.abort(), 1_000)
    await expect(settled(pending)).rejects.toMatchObject({ name: 'AbortError' })
    expect(sent).toHaveLength(1)
  })
})

test('without retry everything is sent once, and gets no key', async () => {
  const { sent, say: sendMessage } = client([answer(503)])
  await expect(settled(sendMessage())).rejects.toMatchObject({ status: 503 })
  expect(sent).toMatchObject([{ method: 'POST', key: null }])
})

describe('a token function', () => {
  test('is asked before every request, repetitions included', async () => {
    let asked = 0
    const token = async () => `t${++asked}`
    const { sent, read } = client([answer(503), answer(200, [])], { token, retry: true })
    await settled(read())
    expect(sent.map(({ token }) => token)).toEqual(['Bearer t1', 'Bearer t2'])
  })

  test('that fails sends nothing, and is not asked on and on', async () => {
    const token = vi.fn().mockRejectedValue(new TypeError('no such file'))
    const { sent, read } = client([answer(200, [])], { token, retry: true })
    await expect(settled(read())).rejects.toThrow('There is no token')
    expect(token).toHaveBeenCalledOnce()
    expect(sent).toEqual([])
  })

  test('that has none leaves it to the cookie', async () => {
    const { sent, read } = client([answer(200, [])], { token: async () => undefined })
    await settled(read())
    expect(sent).toMatchObject([{ token: null }])
  })
})

test('everyEntry reads page after page, no sooner than its entries are taken', async () => {
  const asked: unknown[] = []
  const pages = [['a', 'b'], ['c'], []]
  const entries = everyEntry(async (last: string | undefined, count) => {
    asked.push([last, count])
    return pages[asked.length - 1]!
  })
  expect((await entries.next()).value).toBe('a')
  expect((await entries.next()).value).toBe('b')
  expect(asked).toEqual([[undefined, 0]])
  expect((await entries.next()).value).toBe('c')
  expect((await entries.next()).done).toBe(true)
  expect(asked).toEqual([
    [undefined, 0],
    ['b', 2],
    ['c', 3],
  ])
})
