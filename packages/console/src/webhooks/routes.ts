import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../app/root-routes.ts'

/** One webhook. The navigation does not lead here: the settings list them. */
export const webhookRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings/webhooks/$webhookId',
    component: lazyRouteComponent(() => import('./webhook.page.tsx'), 'WebhookPage'),
  }),
] as const
