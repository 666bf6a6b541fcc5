import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { IconChartBar } from '../base/icons.tsx'
import type { NavigationEntry } from '../platform/platform.ts'
import { shellRoute } from '../platform/root-routes.tsx'
import { t } from '../texts/texts.ts'

export const statisticsRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/statistics',
    component: lazyRouteComponent(() => import('./statistics.page.tsx'), 'StatisticsPage'),
  }),
] as const

export const statisticsNavigation: readonly NavigationEntry[] = [
  {
    to: '/statistics',
    label: t('statistics.navigation.label'),
    description: t('statistics.navigation.description'),
    icon: IconChartBar,
    role: 'client',
  },
]
