import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { fullWindowRoute } from '../platform/root-routes.tsx'

/** Where the replay begins, in seconds since the start of the recording. */
interface ReplaySearch {
  readonly t?: number | undefined
  readonly at?: string | undefined
}

function readReplaySearch({ t, at }: Record<string, unknown>): ReplaySearch {
  // Sets both parameters, because the router keeps the old value of a parameter that is not set.
  if (typeof t === 'number' && Number.isFinite(t) && t >= 0) return { t, at: undefined }
  const isTime = typeof at === 'string' && !Number.isNaN(Date.parse(at))
  return { t: undefined, at: isTime ? at : undefined }
}

export const replayRoutes = [
  createRoute({
    getParentRoute: () => fullWindowRoute,
    path: '/sessions/$sessionId/replay',
    validateSearch: readReplaySearch,
    component: lazyRouteComponent(() => import('./replay.page.tsx'), 'ReplayPage'),
  }),
] as const
