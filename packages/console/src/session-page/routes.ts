import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../platform/root-routes.tsx'

export const sessionPageRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/sessions/$sessionId',
    component: lazyRouteComponent(() => import('./session.page.tsx'), 'SessionPage'),
  }),
] as const
