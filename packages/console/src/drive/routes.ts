import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../app/root-routes.ts'

/** The cockpit of one session. The navigation does not lead here: a session's own pages do. */
export const driveRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/drive/$sessionId',
    component: lazyRouteComponent(() => import('./drive.page.tsx'), 'DrivePage'),
  }),
] as const
