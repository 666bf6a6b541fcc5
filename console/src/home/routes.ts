import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../app/root-routes.ts'

export const homeRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/',
    component: lazyRouteComponent(() => import('./home.page.tsx'), 'HomePage'),
  }),
] as const
