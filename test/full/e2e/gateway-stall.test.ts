import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startGatewayProcess } from '../../support/processes/gateway-process.ts'
import type { Wheelhouse } from '../../support/processes/processes.ts'
import { evaluateIn, inspectable } from '../../support/processes/thread-inspector.ts'
import { performAction, start, tolerateLatency } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld } from '../../support/world/world.ts'

const IDLE_ROBOTS = 20
const timeouts = { HEARTBEAT_INTERVAL_MS: '500', HEARTBEAT_TIMEOUT_MS: '5000' }

/** Stalls a gateway until it counts as dead; returns a function that ends the stall. */
type Stall = (gateway: Wheelhouse) => Promise<() => void>

const stalls: [string, Stall][] = [
  [
    'SIGSTOP of its process',
    async ({ pid }) => {
      process.kill(pid, 'SIGSTOP')
      return () => process.kill(pid, 'SIGCONT')
    },
  ],
  [
    'a busy loop in its thread',
    async (gateway) => {
      const folder = await mkdtemp(join(tmpdir(), 'wheelhouse-stall-'))
      onTestFinished(() => rm(folder, { recursive: true }))
      const end = join(folder, 'end')
      const busyLoop = `{ const { existsSync } = process.getBuiltinModule('node:fs'); while (!existsSync('${end}')); }`
      await evaluateIn(gateway, 'gateway', busyLoop)
      return () => writeFileSync(end, '')
    },
  ],
]

test.each(stalls)('%s disconnects no robot and no operator', async (_name, stall) => {
  await using world = await createWorld({ bus: 'redis', env: timeouts })
  await using gateway = startGatewayProcess(world, { ...inspectable, ...timeouts })
  const { gatewayUrl } = await gateway.serving()
  const [client, operator] = [await world.client(), await world.operator()]
  const robots = []
  for (let index = 0; index <= IDLE_ROBOTS; index++) robots.push(await world.robot(client))
  const links = await Promise.all(
    robots.map(async (robot) => (await world.connect(robot, gatewayUrl)).beat(100)),
  )
  const [driven, link] = [robots[0] as (typeof robots)[0], links[0] as (typeof links)[0]]
  await tolerateLatency(world, driven.id)
  const id = await start(operator, driven.id)
  const console = await world.drive(operator, id)
  await console.state(({ status }) => status === 'ACTIVE')
  console.control()
  await link.next('control')
  const statuses = async (): Promise<string[]> => {
    const { body } = await client.get(`/api/client/robots?limit=${robots.length}`)
    return body.map(({ status }: { status: string }) => status).toSorted()
  }
  const connected = [...Array.from({ length: IDLE_ROBOTS }, () => 'AVAILABLE'), 'IN_SESSION']
  await waitFor(async () => expect(await statuses()).toEqual(connected))

  const closed: string[] = []
  for (const [index, { socket }] of [...links, console].entries())
    socket.on('close', (code, reason) => closed.push(`${index}: ${code} ${reason}`))
  const end = await stall(gateway)
  // It counts as dead: no operator can drive or stop its robots.
  await waitFor(async () => expect(await statuses()).toContain('OFFLINE'))
  await waitFor(async () => expect((await client.get(`/api/sessions/${id}`)).body.status).toBe('PAUSED'))
  end()
  await waitFor(async () => expect(await statuses()).toEqual(connected))
  expect(closed).toEqual([])

  await waitFor(async () => {
    if ((await client.get(`/api/sessions/${id}`)).body.status === 'PAUSED')
      await performAction(operator, id, 'resume')
    console.control()
    await link.next('control', 500)
  })
  for (const item of [...links, console]) await item.close()
  expect(await gateway.end('SIGTERM')).toEqual({ code: 0, signal: null })
})
