import type { ControlAction, LeaseFrame } from '@wheelhouse/protocol'
import { answerOf, type RestClient } from '@wheelhouse/sdk'
import { createStore, type Store } from '../base/store.ts'
import { byId } from '../platform/rest.ts'

/**
 * Changes of control that the operator asks for, one at a time.
 * @param options.lease the newest lease from the gateway; null while control has not changed hands
 */
export function createControlChanges(options: {
  readonly rest: RestClient
  readonly sessionId: string
  readonly lease: Store<LeaseFrame | null>
}) {
  const { rest, sessionId, lease } = options
  const state = createStore<{ readonly isBusy: boolean; readonly error?: unknown }>({ isBusy: false })

  // What failed concerned the holder before.
  lease.subscribe(() => state.update(({ isBusy }) => ({ isBusy })))

  /** Performs an action, unless another one waits for its answer. */
  async function act(action: ControlAction, requestId?: string): Promise<void> {
    if (state.get().isBusy) return
    state.set({ isBusy: true })
    const body = { action, ...(requestId !== undefined && { requestId }) }
    try {
      await answerOf(rest.POST('/api/sessions/{id}/control', { ...byId(sessionId), body }))
      state.set({ isBusy: false })
    } catch (error) {
      state.set({ isBusy: false, error })
    }
  }

  return {
    state,
    act,
    /** Takes control at once from a policy: the person who reaches for the stick means it. */
    preempt(): void {
      if (lease.get()?.holder?.kind === 'policy') void act('take_over')
    },
  }
}
