import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { fullWindowRoute } from '../app/root-routes.ts'

/** The cockpit of a session, which fills the window. The pages of the session link to it, the navigation does not. */
export const driveRoutes = [
  createRoute({
    getParentRoute: () => fullWindowRoute,
    path: '/drive/$sessionId',
    component: lazyRouteComponent(() => import('./drive.page.tsx'), 'DrivePage'),
  }),
] as const
