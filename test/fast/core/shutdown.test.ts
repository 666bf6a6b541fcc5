import { connect } from 'node:net'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { freePort } from '../../../src/core/database/embedded-postmaster.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld } from '../../support/world/world.ts'

const PROFILE = '/api/auth/profile'

/** Locks a row, so that every update of it waits. */
async function block(url: string, userId: string) {
  const blocker = new Client({ connectionString: url })
  await blocker.connect()
  await blocker.query('begin')
  await blocker.query('select from users where id = $1 for update', [userId])
  return {
    waiting: async () =>
      (
        await blocker.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
      ).rowCount,
    async [Symbol.asyncDispose]() {
      await blocker.query('rollback')
      await blocker.end()
    },
  }
}

const takesConnections = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })

test.each(['api', 'api,hub', 'api,hub,gateway,worker'])(
  'a stopping process with %s answers its pending requests and accepts no new ones',
  async (roles) => {
    await using world = await createWorld({ bus: 'redis' })
    const port = await freePort()
    const node = await world.addNode(roles, { PORT: String(port) })
    const [late, slow] = [await world.client(), await world.client()]
    const url = `http://127.0.0.1:${port}`
    const rename = (token: string, body: ReadableStream | string) =>
      fetch(url + PROFILE, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body,
        duplex: 'half',
      } as RequestInit)

    const row = await block(world.database.url, late.id)
    const waiting = rename(late.token, JSON.stringify({ display_name: 'Late' }))
    const half = new TransformStream<Uint8Array, Uint8Array>()
    const writer = half.writable.getWriter()
    const sending = rename(slow.token, half.readable)
    await writer.write(new TextEncoder().encode('{"display_name":'))
    await waitFor(async () => expect(await row.waiting()).toBe(1))

    const stopped = node.stop()
    await waitFor(async () => expect(await takesConnections(port)).toBe(false))
    await row[Symbol.asyncDispose]()
    const answer = await waiting
    expect([answer.status, answer.headers.get('Connection')]).toEqual([200, 'close'])
    for (let count = 0; count < 30; count++) await late.get(PROFILE) // at the other process: time for a premature exit
    await writer.write(new TextEncoder().encode('"Slow"}'))
    await writer.close()
    expect((await sending).status).toBe(200)
    await stopped
    expect((await late.get(PROFILE)).body.display_name).toBe('Late')
    expect((await slow.get(PROFILE)).body.display_name).toBe('Slow')
  },
)
