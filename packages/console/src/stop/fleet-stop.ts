import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../base/message-of.ts'
import { createStore } from '../base/store.ts'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import { createStop, type StopControl, type StopRoute, stopOverRest } from './stop.ts'

const MAX_RESULTS = 1_000

export interface StopTarget {
  readonly sessionId: string
  readonly robotName: string
}

/** The result of one stop. `requested`: sent over all routes, and repeated until it is recorded or rejected. */
export type StopResult = { readonly robotName: string } & (
  | { readonly phase: 'requested' | 'recorded' }
  | { readonly phase: 'rejected'; readonly error: unknown }
)

/** Stops the robots of several sessions at the same time. */
export type FleetStop = ReturnType<typeof createFleetStop>

/** Creates the stops of a page. Each stop goes over its own routes; the failure of one delays no other. */
export function createFleetStop(options: {
  /** The routes of a session's stop, which are used at the same time. */
  routesOf: (sessionId: string) => readonly StopRoute[]
  /** Refreshes the page after a stop is recorded. */
  onRecorded: () => Promise<unknown>
}) {
  const results = createStore<ReadonlyMap<string, StopResult>>(new Map())
  const controls = new Map<string, StopControl>()
  const note = (sessionId: string, result: StopResult) =>
    results.update((old) => new Map([...old, [sessionId, result] as const].slice(-MAX_RESULTS)))

  function controlOf({ sessionId, robotName }: StopTarget): StopControl {
    const known = controls.get(sessionId)
    if (known) return known
    const control = createStop(() => options.routesOf(sessionId), options.onRecorded)
    control.state.subscribe(() => {
      const request = control.state.get()
      if (request.phase === 'none') {
        controls.delete(sessionId) // recorded and shown; a further stop creates a new one
        return
      }
      note(sessionId, { robotName, ...request })
    })
    controls.set(sessionId, control)
    return control
  }

  return {
    /** The newest result of each session, oldest request first. */
    results,
    /** Requests the stops. Safe to call again: a repeated stop has no further effect. */
    stop(targets: readonly StopTarget[]): void {
      for (const target of targets) controlOf(target).request()
    },
    /** Forgets the results, but not the requests that are being sent. */
    forget: () => results.set(new Map()),
  }
}

/**
 * Returns the stops of a page. Each goes over the hub and the REST API at the same time and is retried until it is
 * recorded, even after the user opens another page.
 */
export function useFleetStop(): FleetStop {
  const { rest, live } = usePlatform()
  const queries = useQueryClient()
  const [fleetStop] = useState(() =>
    createFleetStop({
      routesOf: (sessionId) => [
        () => live.performAction(sessionId, 'emergency_stop'),
        stopOverRest(rest, sessionId),
      ],
      onRecorded: () =>
        Promise.all([keys.sessions, keys.robots].map((queryKey) => queries.invalidateQueries({ queryKey }))),
    }),
  )
  return fleetStop
}

export function stopResultText(result: StopResult): string {
  if (result.phase === 'rejected') return t('live.stop.rejected', { error: messageOf(result.error) })
  return result.phase === 'requested' ? t('live.stop.requested') : t('live.stop.recorded')
}
