import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ApiError, answerOf, createRestClient, everyEntry, type RestClientOptions } from './index.ts'

/** Responses in order; the client receives the last one repeatedly. */
type Script = readonly (() => Response)[]

const answer =
  (status: number, body: object = {}, headers: Record<string, string> = {}) =>
  () =>
    Response.json(body, { status, headers })
const noNetwork = () => {
  throw new TypeError('fetch failed')
}

/** Creates a client with scripted responses, which records each request and its time. */
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
  return { sent, rest, read, sendMessage, pause }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Advances the timers until the promise settles. */
async function settled<T>(pending: Promise<T>): Promise<T> {
  pending.catch(() => {})
  await vi.runAllTimersAsync()
  return pending
}

describe('with retry', () => {
  const retry = { random: () => 0 }

  test('repeats a read after a network failure and when the platform is not ready', async () => {
    const { sent, read } = client([noNetwork, answer(503), answer(502), answer(200, [])], { retry })
    expect(await settled(read())).toEqual([])
    expect(sent).toHaveLength(4)
  })

  test('gives up after the allowed number of attempts, with the last refusal', async () => {
    const { sent, read } = client([answer(503, { error: 'Not ready' })], { retry: { ...retry, attempts: 2 } })
    await expect(settled(read())).rejects.toMatchObject({ status: 503, message: 'Not ready' })
    expect(sent).toHaveLength(2)

    const offline = client([noNetwork], { retry })
    await expect(settled(offline.read())).rejects.toMatchObject({ status: 0, name: 'ApiError' })
    expect(offline.sent).toHaveLength(4)
  })

  test('waits for Retry-After, and returns the refusal when the delay is too long', async () => {
    const { sent, pause } = client([answer(429, {}, { 'Retry-After': '7' }), answer(200)], { retry })
    await settled(pause())
    expect(sent).toHaveLength(2)
    expect(sent[1]!.atMs - sent[0]!.atMs).toBe(7_000)

    const late = client([answer(429, {}, { 'Retry-After': '31' })], { retry })
    await expect(settled(late.read())).rejects.toMatchObject({ status: 429, retryAfterS: 31 })
    expect(late.sent).toHaveLength(1)
  })

  test('repeats a POST with the same key and body', async () => {
    const { sent, sendMessage } = client([noNetwork, answer(409, {}, { 'Retry-After': '1' }), answer(201)], {
      retry,
    })
    await settled(sendMessage())
    expect(sent.map(({ body }) => body)).toEqual(Array(3).fill('{"body":"Hello"}'))
    expect(sent[0]!.key).toMatch(/^[\w-]{36}$/)
    expect(new Set(sent.map(({ key }) => key)).size).toBe(1)
  })

  test('does not repeat a request that is unsafe to repeat or that was refused', async () => {
    const { sent, pause } = client([answer(503)], { retry })
    await expect(settled(pause())).rejects.toThrow(ApiError)
    expect(sent).toHaveLength(1)

    const refused = client([answer(409)], { retry })
    await expect(settled(refused.sendMessage())).rejects.toMatchObject({ status: 409 })
    expect(refused.sent).toHaveLength(1)
  })

  test('repeats only the failures that the caller names', async () => {
    const when = (failure: Response | { cause: unknown }) => !(failure instanceof Response)
    const { sent, read } = client([noNetwork, answer(503)], { retry: { ...retry, when } })
    await expect(settled(read())).rejects.toMatchObject({ status: 503 })
    expect(sent).toHaveLength(2)
  })

  test('stops waiting when the caller aborts', async () => {
    const giveUp = new AbortController()
    const { sent, read } = client([answer(429, {}, { 'Retry-After': '20' })], { retry })
    const pending = read({ signal: giveUp.signal })
    setTimeout(() => giveUp.abort(), 1_000)
    await expect(settled(pending)).rejects.toMatchObject({ name: 'AbortError' })
    expect(sent).toHaveLength(1)
  })
})

test('without retry, every request is sent once and without a key', async () => {
  const { sent, sendMessage } = client([answer(503)])
  await expect(settled(sendMessage())).rejects.toMatchObject({ status: 503 })
  expect(sent).toMatchObject([{ method: 'POST', key: null }])
})

describe('a token function', () => {
  test('is called before every request, including repetitions', async () => {
    let calls = 0
    const token = async () => `t${++calls}`
    const { sent, read } = client([answer(503), answer(200, [])], { token, retry: true })
    await settled(read())
    expect(sent.map(({ token }) => token)).toEqual(['Bearer t1', 'Bearer t2'])
  })

  test('that fails prevents the request and is not called again', async () => {
    const token = vi.fn().mockRejectedValue(new TypeError('no such file'))
    const { sent, read } = client([answer(200, [])], { token, retry: true })
    await expect(settled(read())).rejects.toThrow('The token function failed')
    expect(token).toHaveBeenCalledOnce()
    expect(sent).toEqual([])
  })

  test('that returns undefined leaves the authentication to the cookie', async () => {
    const { sent, read } = client([answer(200, [])], { token: async () => undefined })
    await settled(read())
    expect(sent).toMatchObject([{ token: null }])
  })
})

test('everyEntry requests the next page only after all entries of the last one are consumed', async () => {
  const requests: unknown[] = []
  const pages = [['a', 'b'], ['c'], []]
  const entries = everyEntry(async (last: string | undefined, count) => {
    requests.push([last, count])
    return pages[requests.length - 1]!
  })
  expect((await entries.next()).value).toBe('a')
  expect((await entries.next()).value).toBe('b')
  expect(requests).toEqual([[undefined, 0]])
  expect((await entries.next()).value).toBe('c')
  expect((await entries.next()).done).toBe(true)
  expect(requests).toEqual([
    [undefined, 0],
    ['b', 2],
    ['c', 3],
  ])
})
