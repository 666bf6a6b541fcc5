import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import type { NavigationEntry } from '../../app/navigation.ts'
import { shellRoute } from '../../app/root-routes.ts'
import { IconActivity } from '../../ui/icons.tsx'

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
    label: 'Live',
    description: 'All live robots at a glance, with a stop for each.',
    icon: IconActivity,
    role: 'client',
  },
]
