import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { IconActivity } from '../base/icons.tsx'
import type { NavigationEntry } from '../platform/platform.ts'
import { shellRoute } from '../platform/root-routes.tsx'
import { t } from '../texts/texts.ts'

export const wallRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/live',
    component: lazyRouteComponent(() => import('./wall.page.tsx'), 'WallPage'),
  }),
] as const

export const wallNavigation: readonly NavigationEntry[] = [
  {
    to: '/live',
    label: t('live.navigation.label'),
    description: t('live.navigation.description'),
    icon: IconActivity,
    role: 'client',
  },
]
