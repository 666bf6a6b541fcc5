import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { fullWindowRoute } from '../platform/root-routes.tsx'

/** The cockpit of a session, and the same view for those who watch it. Both fill the window. The pages of the session link to them, the navigation does not. */
export const driveRoutes = [
  createRoute({
    getParentRoute: () => fullWindowRoute,
    path: '/drive/$sessionId',
    component: lazyRouteComponent(() => import('./drive.page.tsx'), 'DrivePage'),
  }),
  createRoute({
    getParentRoute: () => fullWindowRoute,
    path: '/watch/$sessionId',
    component: lazyRouteComponent(() => import('./drive.page.tsx'), 'WatchPage'),
  }),
] as const
