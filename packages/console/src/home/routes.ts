import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { shellRoute } from '../platform/root-routes.tsx'

export const homeRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/',
    // E-mails link to `/dashboard?session=…`.
    validateSearch: ({ session }: Record<string, unknown>): { session?: string } =>
      typeof session === 'string' ? { session } : {},
    beforeLoad: ({ search: { session } }) => {
      if (session)
        throw redirect({ to: '/sessions/$sessionId', params: { sessionId: session }, replace: true })
    },
    component: lazyRouteComponent(() => import('./home.page.tsx'), 'HomePage'),
  }),
] as const
