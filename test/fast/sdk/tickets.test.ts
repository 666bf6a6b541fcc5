import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { type LinkEnd, OperatorLink, ticketsOf } from '../../../packages/sdk/index.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld } from '../../support/world/world.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

describe('tickets of the platform', () => {
  test('admit the caller to one part of one session at its gateway', async () => {
    await using world = await createWorld()
    const fixture = await openSessionFixture(world)
    const options = { baseUrl: world.baseUrl, sessionId: fixture.id, part: 'control' } as const
    const token = vi.fn(async () => fixture.operator.token)
    const tickets = ticketsOf({ ...options, token })
    const [first, second] = [await tickets(), await tickets()]
    expect(first.url).toBe(`${world.gatewayUrl}/sessions/${fixture.id}/control`)
    expect(world.platform.sessions.tickets.read(first.ticket)).toMatchObject({
      userId: fixture.operator.id,
      part: 'control',
    })
    expect(second.ticket).not.toBe(first.ticket)
    expect(token).toHaveBeenCalledTimes(2)
    const { key } = await fixture.client.key()
    const watching = await ticketsOf({ ...options, part: 'watch', token: key })()
    expect(watching.url).toBe(`${world.gatewayUrl}/sessions/${fixture.id}/watch`)
  })

  test('are refused permanently to other users and for sessions that are not open', async () => {
    await using world = await createWorld()
    const fixture = await openSessionFixture(world)
    const unrelatedUser = await world.operator()
    const options = { baseUrl: world.baseUrl, sessionId: fixture.id, part: 'control' } as const
    const refusal = (token: string, sessionId = fixture.id) =>
      ticketsOf({ ...options, sessionId, token })().then(
        () => null,
        (cause: unknown) => cause,
      )
    expect(await refusal('wrong')).toMatchObject({ status: 401, final: true })
    const admin = await world.admin()
    expect(await refusal(admin.token)).toMatchObject({ status: 403, final: true })
    expect(await refusal(unrelatedUser.token)).toMatchObject({ status: 404, final: true })
    expect(await refusal(fixture.operator.token, 'a/b?c')).toMatchObject({ final: true })

    await fixture.link.close()
    const offline = { name: 'TicketRefusedError', status: 409, final: false }
    await waitFor(async () =>
      expect(await refusal(fixture.operator.token)).toMatchObject({
        ...offline,
        message: expect.stringContaining('offline'),
      }),
    )
    await fixture.performAction(fixture.client, 'end')
    expect(await refusal(fixture.operator.token)).toMatchObject({ status: 409, final: true })

    const closed = vi.fn<(end: LinkEnd) => void>()
    const getTicket = ticketsOf({ ...options, token: fixture.operator.token })
    const link = new OperatorLink({ getTicket, onClosed: closed, onError: () => {} })
    await expect(link.connect()).rejects.toThrow('not open')
    expect(closed.mock.calls[0]?.[0]).toMatchObject({ httpStatus: 409 })
  })
})

describe('a failing platform', () => {
  type Answer = { status: number; headers?: Record<string, string>; body?: unknown }

  /** Starts a server that answers requests by their method. */
  async function serve(answers: Record<string, Answer>) {
    const server = createServer((request, response) => {
      const { status, headers = {}, body = { error: 'trouble' } } = answers[request.method ?? '']!
      response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanups.push(async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    })
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return ticketsOf({ baseUrl, token: 't', sessionId: 's', part: 'watch' })
  }

  test.each([
    [429, '7', 7_000],
    [503, '1', 1_000],
    [503, '86400', 60_000],
    [500, 'Fri, 31 Dec 2027 23:59:59 GMT', 0],
    [502, undefined, 0],
  ])('answering %i with Retry-After %s is asked again after %i ms', async (status, after, retryAfterMs) => {
    const tickets = await serve({
      POST: { status, headers: after === undefined ? {} : { 'retry-after': after } },
    })
    await expect(tickets()).rejects.toMatchObject({
      name: 'TicketRefusedError',
      status,
      final: false,
      retryAfterMs,
      message: 'trouble',
    })
  })

  test('that cannot return the session status is asked again', async () => {
    const conflict = { status: 409 }
    for (const GET of [{ status: 500 }, { status: 200, body: 'no JSON' }, { status: 200, body: null }]) {
      const tickets = await serve({ POST: conflict, GET })
      await expect(tickets()).rejects.toMatchObject({ status: 409, final: false })
    }
    const over = await serve({ POST: conflict, GET: { status: 200, body: { status: 'COMPLETED' } } })
    await expect(over()).rejects.toMatchObject({ status: 409, final: true })
  })

  test('that returns no ticket causes a malformed-ticket error', async () => {
    for (const body of ['<html>', {}, { url: 1, ticket: 't' }, { url: 'ws://x' }]) {
      const tickets = await serve({ POST: { status: 201, body } })
      await expect(tickets()).rejects.toThrow('malformed')
    }
  })
})
