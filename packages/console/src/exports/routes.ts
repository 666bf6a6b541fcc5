import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../platform/root-routes.tsx'

/** The page of stored exports. The list of sessions, notifications and mails link to it, the navigation does not. */
export const exportRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/exports',
    // Notifications and mails name their export: `/dashboard/exports?export=…`.
    validateSearch: (search: Record<string, unknown>): { export?: string } =>
      typeof search.export === 'string' ? { export: search.export } : {},
    component: lazyRouteComponent(() => import('./exports.page.tsx'), 'ExportsPage'),
  }),
] as const
