import { encodeBinaryFrame } from '@wheelhouse/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TestDriver, TestRobot } from '../../support/gateway/frame-socket.ts'
import { explore } from '../../support/runner/explore.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const DEADMAN_MS = 100
/** A run sends dozens of requests: it computes for 0.4 s, a run of `control-relay-model` for 0.06 s. */
const COSTS = 4
/** Long enough for a busy machine to relay a frame. A stale frame is twice as old, and still below the latency limit. */
const TTL_MS = 4_000

const kind = <T extends string>(name: T) => fc.constant(name)
const step = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: kind('control'),
      is: fc.constantFrom('good', 'good', 'good', 'stale', 'repeated', 'backwards', 'blind'),
      binary: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: kind('silence') }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: kind('stop'), by: fc.constantFrom('console', 'observer', 'owner') }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: kind('action'),
      action: fc.constantFrom('pause', 'resume', 'resume', 'clear_stop'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: kind('console'), before: fc.constantFrom('lost', 'open') }) },
  { weight: 2, arbitrary: fc.record({ do: kind('robot'), before: fc.constantFrom('lost', 'open') }) },
)
// biome-ignore lint/suspicious/noExplicitAny: a union of small records, distinguished by `do`
type Step = any

interface EmittedState {
  readonly type: string
  readonly seq?: number
  readonly reason?: string
  readonly latched?: boolean
}

/** Creates one session of the robot, with a model of its state according to the rules. */
async function createControlScenario(
  world: World,
  actors: { owner: TestUser; operator: TestUser; robot: Parameters<World['connect']>[0] },
) {
  const { owner, operator, robot } = actors
  /** The frames that the robot received, for each of its connections. */
  const stateLogs: EmittedState[][] = []
  const connect = async (): Promise<TestRobot> => {
    const link = (await world.connect(robot)).beat()
    const history: EmittedState[] = []
    stateLogs.push(history)
    link.socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) history.push({ type: 'control', seq: data.readUInt32BE(4) })
      else history.push(JSON.parse(String(data)))
    })
    return link
  }
  let link = await connect()
  await waitFor(async () => {
    expect((await owner.get(`/api/client/robots/${robot.id}`)).body.status).toBe('AVAILABLE')
  })
  const id = await start(operator, robot.id)
  const observer = await world.drive(owner, id, 'watch')
  let console = await world.drive(operator, id)
  const model = {
    status: 'ACTIVE',
    stopped: false,
    stoppedByOwner: false,
    log: ['session.started'],
    seq: 10,
    lastPassed: -1,
  }
  const shown = () =>
    console.state(({ status, stop }) => status === model.status && (stop?.latched ?? false) === model.stopped)
  await shown()

  /** Returns whether the robot received a stop after the last control frame of its present connection. */
  const isHalted = () => {
    const history = stateLogs.at(-1) ?? []
    const types = history.map(({ type }) => type)
    return types.lastIndexOf('control') <= types.lastIndexOf('stop')
  }

  function sendControl(is: string, binary: boolean): { seq: number; why: string | null } {
    const seq = is === 'repeated' ? model.lastPassed : is === 'backwards' ? model.lastPassed - 1 : ++model.seq
    const t = performance.now() - (is === 'stale' ? 2 * TTL_MS : 0)
    const video_age_ms = is === 'blind' ? 60_000 : 0
    if (binary) {
      console.send({ type: 'video_age', video_age_ms })
      console.send(encodeBinaryFrame({ kind: 1, flags: 0, ttlMs: TTL_MS, seq, t }, new Uint8Array(8)))
    } else console.control({}, { seq, t, ttl_ms: TTL_MS, video_age_ms })
    const rules = [
      [model.stopped, 'stopped'],
      [model.status !== 'ACTIVE', 'session_paused'],
      [seq <= model.lastPassed, 'out_of_order'],
      [is === 'stale', 'expired'],
      [is === 'blind', 'video_stale'],
    ] as const
    return { seq, why: rules.find(([applies]) => applies)?.[1] ?? null }
  }

  async function control(is: string, binary: boolean): Promise<void> {
    if (model.lastPassed < 1 && is !== 'good') return // there is no earlier frame
    const { seq, why } = sendControl(is, binary)
    if (why !== null) {
      expect(await console.next('dropped')).toEqual({ type: 'dropped', seq, why })
      return
    }
    model.lastPassed = seq
    await waitFor(() =>
      expect(stateLogs.at(-1)).toContainEqual(expect.objectContaining({ type: 'control', seq })),
    )
  }

  async function stop(by: string): Promise<void> {
    const first = !model.stopped
    // A client cannot see when a repeated stop of a socket is recorded; until then a clearing precedes it.
    if (!first && by !== 'owner') return
    const reason = `${by} ${model.log.length}`
    if (by === 'owner') await performAction(owner, id, 'emergency_stop', reason)
    else (by === 'console' ? console : observer).send({ type: 'stop', reason })
    if (!first) {
      // The owner's stop on top of the operator's restricts who may clear it, which is a separate log entry.
      if (!model.stoppedByOwner) model.log.push('session.stopped')
      model.stoppedByOwner = true
      return
    }
    model.stopped = true
    model.stoppedByOwner = by !== 'console'
    model.status = 'PAUSED'
    model.log.push('session.stopped')
    await waitFor(() => {
      expect(stateLogs.at(-1)).toContainEqual({ type: 'stop', reason, latched: true })
    })
    link.send({ type: 'stopped', reason })
    const state = await console.state(({ stop, status }) => stop?.recorded && status === 'PAUSED')
    expect(state.stop).toMatchObject({ reason, latched: true, recorded: true })
  }

  const transitions: Record<string, () => boolean> = {
    pause: () => model.status === 'ACTIVE',
    resume: () => model.status === 'PAUSED' && !model.stopped,
    clear_stop: () => model.stopped,
  }
  async function change(action: string): Promise<void> {
    const possible = transitions[action]?.() ?? false
    const byOwner = action === 'pause' || (action === 'clear_stop' && model.stoppedByOwner)
    const user = byOwner ? owner : operator
    const reply = await user.patch(`/api/sessions/${id}`, { action })
    expect(reply.status, `${action}: ${JSON.stringify(reply.body)}`).toBe(possible ? 200 : 409)
    if (!possible) return
    if (action === 'clear_stop') Object.assign(model, { stopped: false, stoppedByOwner: false })
    else model.status = action === 'pause' ? 'PAUSED' : 'ACTIVE'
    model.log.push(
      { pause: 'session.paused', resume: 'session.resumed', clear_stop: 'session.stop_cleared' }[
        action
      ] as string,
    )
    await shown()
    if (model.status === 'PAUSED') await waitFor(() => expect(isHalted()).toBe(true))
  }

  async function newConsole(before: string): Promise<void> {
    const old: TestDriver = console
    if (before === 'lost') {
      old.destroy()
      await waitFor(() => expect(isHalted()).toBe(true)) // at once, or earlier by the deadman
    }
    console = await world.drive(operator, id)
    await shown()
    if (before === 'open') expect(await old.closed).toBe(4000)
    model.lastPassed = -1
  }

  async function newRobot(before: string): Promise<void> {
    if (before === 'lost') {
      link.destroy()
      await console.state(({ robot_connected }) => !robot_connected)
      model.status = 'PAUSED'
      model.log.push('robot.lost')
      await inLog()
    }
    const old = link
    link = await connect()
    if (before === 'open') expect(await old.closed).toBe(4000)
    if (before === 'lost') model.log.push('robot.back')
    await inLog()
    const probe = await world.drive(owner, id, 'watch')
    await probe.state(({ status, robot_connected }) => status === model.status && robot_connected)
    await probe.close()
    console.frames.length = 0
  }

  const logged = async (): Promise<string[]> =>
    (await owner.get(`/api/sessions/${id}/events?limit=200`)).body.events.map(
      ({ type }: { type: string }) => type,
    )

  const inLog = () => waitFor(async () => expect(await logged()).toEqual(model.log))

  return {
    async perform(item: Step): Promise<void> {
      if (item.do === 'control') await control(item.is, item.binary)
      else if (item.do === 'silence') await waitFor(() => expect(isHalted()).toBe(true))
      else if (item.do === 'stop') await stop(item.by)
      else if (item.do === 'action') await change(item.action)
      else if (item.do === 'console') await newConsole(item.before)
      else await newRobot(item.before)
    },

    /** Checks at the end that the robot can be driven after clearing and resuming, and that the log is complete. */
    async audit(): Promise<void> {
      if (model.stopped) await change('clear_stop')
      if (model.status === 'PAUSED') await change('resume')
      await control('good', false)
      expect(await logged()).toEqual(model.log)
      for (const history of stateLogs) {
        let latched = false
        let moving = false
        for (const { type, latched: latches, reason } of history) {
          if (type === 'stop_cleared') latched = false
          else if (type === 'control') {
            expect(latched, 'control under a stop').toBe(false)
            moving = true
          } else if (type === 'stop') {
            if (reason === 'deadman') expect(moving, 'a deadman stop without motion').toBe(true)
            moving = false
            latched ||= latches ?? false
          }
        }
      }
    },

    async end(): Promise<void> {
      await owner.patch(`/api/sessions/${id}`, { action: 'end' }) // by the owner, so that the robot is not on hold
      await Promise.all([console.closed, observer.closed])
      await link.close()
    },
  }
}

// A failure prints its seed and the shortest failing sequence; `fc.assert(…, { seed, path })` repeats it.
test('the rules of control are kept for any sequence of consoles, observers, owners and robots at a real platform', async () => {
  await using world = await createWorld({
    env: { DEADMAN_MS: String(DEADMAN_MS), OPERATOR_GRACE_MS: '60000' },
  })
  const [owner, operator] = [await world.client(), await world.operator()]
  const robot = await world.robot(owner)
  // The load of the test machine must not exceed the latency limit.
  const slow = await owner.patch(`/api/client/robots/${robot.id}`, { latency_limit_ms: 10_000 })
  expect(slow.status, JSON.stringify(slow.body)).toBe(200)
  await explore(
    fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 35, size: 'max' }), async (steps) => {
      const run = await createControlScenario(world, { owner, operator, robot })
      try {
        for (const item of steps) await run.perform(item)
        await run.audit()
      } finally {
        await run.end()
      }
    }),
    { costs: COSTS },
  )
})
