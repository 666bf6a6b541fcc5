import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { fullWindowRoute } from '../app/root-routes.ts'

/** Where the replay begins, in seconds since the start of the recording. */
export interface ReplaySearch {
  readonly t?: number | undefined
}

/** Reads the search parameters; an invalid time counts as missing. */
const readReplaySearch = ({ t }: Record<string, unknown>): ReplaySearch => {
  const seconds = typeof t === 'number' ? t : Number.NaN
  return Number.isFinite(seconds) && seconds >= 0 ? { t: seconds } : {}
}

export const replayRoutes = [
  createRoute({
    getParentRoute: () => fullWindowRoute,
    path: '/sessions/$sessionId/replay',
    validateSearch: readReplaySearch,
    component: lazyRouteComponent(() => import('./replay.page.tsx'), 'ReplayPage'),
  }),
] as const
