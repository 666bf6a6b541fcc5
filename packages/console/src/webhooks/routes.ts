import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../platform/root-routes.tsx'

/** The page of a webhook. The settings link to it, the navigation does not. */
export const webhookRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings/webhooks/$webhookId',
    component: lazyRouteComponent(() => import('./webhook.page.tsx'), 'WebhookPage'),
  }),
] as const
