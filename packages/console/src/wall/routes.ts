import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { IconActivity } from '../base/icons.tsx'
import type { NavigationEntry } from '../platform/platform.ts'
import { fullWindowRoute } from '../platform/root-routes.tsx'
import { t } from '../texts/texts.ts'
import { readWallSearch } from './wall-search.ts'

/** The wall fills the window: it is made for a large screen, and for many pictures. */
export const wallRoutes = [
  createRoute({
    getParentRoute: () => fullWindowRoute,
    path: '/live',
    validateSearch: readWallSearch,
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
