import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { toAppError } from '../errors/errors.ts'
import { readBody } from './json-body.ts'

const app = new Koa()
app.use(async (ctx, next) => {
  try {
    await next()
  } catch (cause) {
    const { status, message } = toAppError(cause)
    ctx.status = status
    ctx.body = { message }
  }
})
app.use(readBody)
app.use((ctx) => {
  ctx.body = { body: ctx.request.body, characters: String(ctx.request.rawBody).length }
})
const server = createServer(app.callback())
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => new Promise((resolve) => server.close(resolve)))

async function send(body: string, type = 'application/json') {
  const { port } = server.address() as AddressInfo
  const answer = await fetch(`http://127.0.0.1:${port}`, {
    method: 'POST',
    body,
    headers: { 'Content-Type': type, Connection: 'close' },
  })
  return { status: answer.status, ...(await answer.json()) }
}

const object = (names: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: names }, (_, n) => [`n,:${n}`, '",:'])))
const array = (entries: number) => JSON.stringify(Array.from({ length: entries }, () => 0))

test('a body is JSON of an object or an array, or a session description', async () => {
  expect(await send('{"a":[1]}')).toEqual({ status: 200, body: { a: [1] }, characters: 9 })
  expect(await send('')).toMatchObject({ status: 200, body: {} })
  expect(await send('v=0', 'application/sdp')).toMatchObject({ status: 200, body: 'v=0' })
  for (const text of ['5', '{"a":', '{"__proto__":{}}', '"x"'])
    expect(await send(text)).toEqual({ status: 400, message: 'The request body is not valid JSON.' })
})

test('JSON that is too deep, too wide or too large is refused before it is parsed', async () => {
  expect(await send(object(2_000))).toMatchObject({ status: 200 })
  expect(await send(array(10_000))).toMatchObject({ status: 200 })
  const tooMany = { status: 400, message: 'The request body has more than 2000 names or 10000 entries' }
  expect(await send(object(2_001))).toEqual(tooMany)
  expect(await send(array(10_001))).toEqual(tooMany)
  expect(await send(`{"a":${object(2_001)}, never closed`)).toEqual(tooMany)
  expect(await send('['.repeat(65))).toMatchObject({
    status: 400,
    message: expect.stringContaining('64 levels'),
  })
  expect(await send(JSON.stringify(['x'.repeat(256 * 1024)]))).toMatchObject({ status: 413 })
  expect(await send('x'.repeat(64 * 1024 + 1), 'application/sdp')).toMatchObject({ status: 413 })
})
