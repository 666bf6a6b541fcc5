import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../app/root-routes.ts'

/** The cockpit of a session. The pages of the session link to it, the navigation does not. */
export const driveRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/drive/$sessionId',
    component: lazyRouteComponent(() => import('./drive.page.tsx'), 'DrivePage'),
  }),
] as const
