import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { IconListDetails } from '../base/icons.tsx'
import type { NavigationEntry } from '../platform/platform.ts'
import { shellRoute } from '../platform/root-routes.tsx'
import { t } from '../texts/texts.ts'
import { readSessionSearch } from './list-search.ts'

export const sessionRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/sessions',
    validateSearch: readSessionSearch,
    component: lazyRouteComponent(() => import('./sessions.page.tsx'), 'SessionsPage'),
  }),
] as const

export const sessionNavigation: readonly NavigationEntry[] = [
  {
    to: '/sessions',
    label: t('session.navigation.label'),
    description: t('session.navigation.description'),
    icon: IconListDetails,
    participantsOnly: true,
    first: true,
  },
]

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
