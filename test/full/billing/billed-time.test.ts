import fc from 'fast-check'
import { expect, test } from 'vitest'
import { actors, createSilentGateway, MINUTE_MS } from '../../support/world/billing.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import { createWorld } from '../../support/world/world.ts'

/** Generates one step of a session: a transition or an outage, and the time before it. */
const step = fc.record({
  afterMs: fc.oneof(fc.integer({ min: 0, max: 3 * MINUTE_MS }), fc.constantFrom(0, MINUTE_MS)),
  what: fc.constantFrom('pause', 'resume', 'falls silent', 'is found lost', 'is back', 'nothing'),
})
type Step = { readonly afterMs: number; readonly what: string }

/** Computes the expected billed time of the steps, in milliseconds, without the platform. */
function simulateSession(steps: readonly Step[], tailMs: number) {
  let atMs = 0
  let activeSinceMs: number | undefined = 0
  let interval = { sinceMs: 0, untilMs: 0 }
  let silentSinceMs: number | undefined
  let lost = false
  let billedMs = 0
  const closeInterval = (untilMs: number) => {
    if (activeSinceMs === undefined) return
    interval = { sinceMs: activeSinceMs, untilMs }
    billedMs += untilMs - activeSinceMs
    activeSinceMs = undefined
  }
  const actions: { atMs: number; what: string; silentSinceMs: number | undefined }[] = []
  for (const { afterMs, what } of steps) {
    atMs += afterMs
    const possible = {
      pause: activeSinceMs !== undefined,
      resume: activeSinceMs === undefined && !lost,
      'falls silent': !lost && silentSinceMs === undefined,
      'is found lost': silentSinceMs !== undefined && !lost,
      'is back': lost,
    }[what]
    if (!possible) continue
    actions.push({ atMs, what, silentSinceMs })
    if (what === 'pause') closeInterval(atMs)
    if (what === 'resume') activeSinceMs = atMs
    if (what === 'falls silent') silentSinceMs = atMs
    if (what === 'is found lost') {
      closeInterval(atMs)
      const { sinceMs, untilMs } = interval
      const aliveUntilMs = Math.max(sinceMs, Math.min(untilMs, silentSinceMs as number))
      billedMs -= untilMs - aliveUntilMs
      interval = { sinceMs, untilMs: aliveUntilMs }
      lost = true
    }
    if (what === 'is back') {
      lost = false
      silentSinceMs = undefined
    }
  }
  atMs += tailMs
  closeInterval(atMs)
  return { actions, endMs: atMs, billedMs }
}

test('bills ACTIVE time and excludes pauses and outages, for any sequence of steps', async () => {
  let clockMs = Date.parse('2026-05-10T12:00:00Z')
  const env = { ROBOT_GRACE_MS: '86400000' } // the worker ends no session during the test
  await using world = await createWorld({ now: () => new Date(clockMs), env })
  await using gateway = await createSilentGateway(world, () => clockMs)
  const { operator, robotId } = await actors(world, gateway)
  const scenarios = fc.tuple(
    fc.array(step, { minLength: 1, maxLength: 12 }),
    fc.integer({ min: 0, max: 3 * MINUTE_MS }),
  )
  await fc.assert(
    fc.asyncProperty(scenarios, async ([steps, tailMs]) => {
      const beginMs = clockMs
      const id = await start(operator, robotId)
      const { actions, endMs, billedMs } = simulateSession(steps, tailMs)
      let connected = true
      for (const { atMs, what, silentSinceMs } of actions) {
        clockMs = beginMs + atMs
        if (what === 'pause' || what === 'resume') await performAction(operator, id, what)
        if (what === 'is found lost') await gateway.lose(robotId, beginMs + (silentSinceMs as number))
        if (what === 'is back') await gateway.connect(robotId)
        if (what === 'is found lost' || what === 'is back') connected = what === 'is back'
      }
      clockMs = beginMs + endMs
      const ended = await performAction(operator, id, 'end')
      expect(ended.client_charge_cents).toBe(Math.ceil(billedMs / MINUTE_MS) * 50)
      if (!connected) await gateway.connect(robotId)
    }),
    { numRuns: 30, endOnFailure: true },
  )
})
