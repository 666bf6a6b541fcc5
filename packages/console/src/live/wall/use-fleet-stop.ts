import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { usePlatform } from '../../platform/platform.ts'
import { keys } from '../../platform/queries.ts'
import { stopOverRest } from '../../session/stop-over-rest.ts'
import { createFleetStop, type FleetStop } from './fleet-stop.ts'

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
