import { expect, test } from 'vitest'
import { createTestDatabase } from '../../support/database/database.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld } from '../../support/world/world.ts'

test('a stop of an owner who watches over the hub halts the robot without the database, which records it later', async () => {
  const database = await createTestDatabase()
  await using proxy = await createTcpProxy(database.url)
  await using world = await createWorld({ database, env: { DATABASE_URL: proxy.url } })
  // Also after a failure, so that the world can end.
  using _restored = { [Symbol.dispose]: () => proxy.restore() }
  world.tolerateErrors('') // of the outage
  const fixture = await openSessionFixture(world)
  const console = await world.drive(fixture.operator, fixture.id)
  await console.state()
  const hub = await fixture.owner.hub()
  await hub.send('session:watch', { session_id: fixture.id })
  proxy.cut()
  const stop = { session_id: fixture.id, action: 'emergency_stop', reason: 'smoke' }
  expect(await hub.send('session:action', stop)).toEqual({
    ok: false,
    status: 503,
    error: expect.stringContaining('not recorded'),
  })
  await waitFor(() =>
    expect(fixture.link.frames).toContainEqual({ type: 'stop', reason: 'smoke', latched: true }),
  )
  const halted = await console.state((state) => state.stop?.latched)
  expect(halted.stop).toMatchObject({ by_role: 'client', clearable_by: 'owner', recorded: false })

  proxy.restore()
  await console.state((state) => state.stop?.recorded)
  expect((await fixture.log()).at(-1)).toMatchObject({
    type: 'session.stopped',
    data: { actor_id: fixture.owner.id, reason: 'smoke' },
  })
  expect((await fixture.performAction(fixture.operator, 'clear_stop')).status).toBe(403)
})
