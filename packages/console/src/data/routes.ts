import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { IconDatabase } from '../base/icons.tsx'
import type { NavigationEntry } from '../platform/platform.ts'
import { shellRoute } from '../platform/root-routes.tsx'
import { t } from '../texts/texts.ts'

const getParentRoute = () => shellRoute

export const dataRoutes = [
  createRoute({
    getParentRoute,
    path: '/datasets',
    component: lazyRouteComponent(() => import('./datasets.page.tsx'), 'DatasetsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/datasets/exports',
    component: lazyRouteComponent(() => import('./dataset-exports.page.tsx'), 'DatasetExportsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/datasets/$datasetId',
    component: lazyRouteComponent(() => import('./dataset.page.tsx'), 'DatasetPage'),
  }),
] as const

export const dataNavigation: readonly NavigationEntry[] = [
  {
    to: '/datasets',
    label: t('data.navigation.label'),
    description: t('data.navigation.description'),
    icon: IconDatabase,
    role: 'client',
  },
]
