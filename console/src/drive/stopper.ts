import { ApiError, answerOf, isFinalRefusal, type RestClient } from '@wheelhouse/sdk'
import type { SessionRoom } from '../live/session-room.ts'
import { createStore, type Store } from '../ui/store.ts'
import type { Driver } from './driver.ts'

/** `pressed`: on its way; `recorded`: the platform has it; `refused`: the platform will not have it. */
export interface StopView {
  readonly phase: 'none' | 'pressed' | 'recorded' | 'refused'
  /** What went wrong on the other ways so far. */
  readonly problem?: unknown
}

export interface Stopper {
  readonly view: Store<StopView>
  /** Stops the robot by every way there is, until the platform has recorded it, also when the page has been left. */
  press(): void
  /** The stop was cleared here: nothing of it is pressed again. */
  cleared(): void
}

export interface StopperParts {
  readonly driver: Driver
  readonly room: SessionRoom
  readonly rest: RestClient
  readonly sessionId: string
}

const REASON = 'stopped from the cockpit'
/** A gateway that has not answered by then may be dead without anybody knowing. */
const GATEWAY_MS = 700
const HUB_MS = 1_500
const AGAIN_MS = 1_000

export function createStopper({ driver, room, rest, sessionId }: StopperParts): Stopper {
  const view = createStore<StopView>({ phase: 'none' })
  /** The stop that is on its way; aborted once it has arrived or is given up. */
  let pressing: AbortController | undefined

  function settle(mine: AbortController, next: StopView): void {
    if (mine.signal.aborted) return
    mine.abort()
    view.set(next)
  }

  /** Asks the hub and, where that fails, the REST API, until one of them has it or refuses for good. */
  async function otherWays(mine: AbortController): Promise<void> {
    while (!mine.signal.aborted) {
      try {
        await byHub().catch((cause) => (isFinalRefusal(cause) ? Promise.reject(cause) : byRest(mine.signal)))
        return settle(mine, { phase: 'recorded' })
      } catch (problem) {
        if (isFinal(problem)) return settle(mine, { phase: 'refused', problem })
        if (!mine.signal.aborted) view.set({ phase: 'pressed', problem })
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  }

  const byHub = () => Promise.race([room.act('emergency_stop', REASON), lateAfter(HUB_MS)])
  const byRest = (signal: AbortSignal) =>
    answerOf(
      rest.PATCH('/api/sessions/{id}', {
        params: { path: { id: sessionId } },
        body: { action: 'emergency_stop', reason: REASON },
        signal,
      }),
    )

  return {
    view,
    press() {
      if (pressing && !pressing.signal.aborted) return
      const mine = new AbortController()
      pressing = mine
      view.set({ phase: 'pressed' })
      const online = driver.link.get().phase === 'online'
      driver.stop(REASON).then(
        () => settle(mine, { phase: 'recorded' }),
        () => undefined, // the link has ended: the other ways are open
      )
      const timer = setTimeout(() => void otherWays(mine), online ? GATEWAY_MS : 0)
      mine.signal.addEventListener('abort', () => clearTimeout(timer))
    },
    cleared() {
      pressing?.abort()
      view.set({ phase: 'none' })
      driver.forgetStop()
    },
  }
}

const lateAfter = (ms: number) =>
  new Promise<never>((_, reject) => setTimeout(() => reject(new Error('the hub does not answer')), ms))

const isFinal = (problem: unknown) =>
  isFinalRefusal(problem) ||
  (problem instanceof ApiError &&
    problem.status >= 400 &&
    problem.status < 500 &&
    ![408, 425, 429].includes(problem.status))
