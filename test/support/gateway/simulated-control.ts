import { afterEach, beforeEach, expect, vi } from 'vitest'
import { type ControlFixture, createControlFixture, type TestParticipant } from './control-fixture.ts'

/**
 * Fakes the clock in each test of a file or of a `describe`, and checks at the end that the gateway kept the rules of control.
 * Returns functions with which a test opens its gateway and uses it.
 */
export function simulateControl() {
  let opened: ControlFixture | undefined
  beforeEach(() => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'],
    })
  })
  afterEach(async () => {
    const fixture = opened
    opened = undefined
    // Also after a failure: other files of this process need real timers.
    await fixture?.end().finally(vi.useRealTimers)
    vi.useRealTimers()
    expect(fixture?.violations).toEqual([])
    expect(fixture?.errors).toEqual([])
  })
  const current = () => opened as ControlFixture

  return {
    /** Creates a gateway with one robot, which is connected and in a session. */
    async open(options: Parameters<typeof createControlFixture>[0] = {}): Promise<ControlFixture> {
      opened = await createControlFixture(options)
      opened.connectRobot()
      await opened.attend()
      opened.book.start(opened.nowMs())
      await opened.attend()
      return opened
    },
    /** The open session, as the database has it. */
    session: () => current().book.open() as NonNullable<ReturnType<ControlFixture['book']['open']>>,
    /** The robot's connection. */
    robot: () => current().machine() as NonNullable<ReturnType<ControlFixture['machine']>>,
    /** Connects an operator or an observer, and waits for the admission. */
    async join(part: 'control' | 'watch' = 'control', options = {}): Promise<TestParticipant> {
      const participant = current().join(current().book.open()?.id as string, part, options)
      await current().attend()
      expect(participant.state).not.toBeNull()
      return participant
    },
  }
}
