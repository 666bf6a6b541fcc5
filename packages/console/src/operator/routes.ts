import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { IconCalendarWeek, IconCertificate, IconCoins, IconRobotFace } from '../base/icons.tsx'
import type { NavigationEntry } from '../platform/platform.ts'
import { fullWindowRoute, shellRoute } from '../platform/root-routes.tsx'
import { t } from '../texts/texts.ts'
import { readAvailableSearch } from './list-search.ts'

export const operatorRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/available',
    validateSearch: readAvailableSearch,
    component: lazyRouteComponent(() => import('./available.page.tsx'), 'AvailablePage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/available/$robotId',
    component: lazyRouteComponent(() => import('./pre-flight.page.tsx'), 'PreFlightPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/certifications',
    component: lazyRouteComponent(() => import('./certifications.page.tsx'), 'CertificationsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/schedule',
    component: lazyRouteComponent(() => import('./schedule.page.tsx'), 'SchedulePage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/earnings',
    component: lazyRouteComponent(() => import('./earnings.page.tsx'), 'EarningsPage'),
  }),
] as const

/** The front page links to it. */
export const demoRoutes = [
  createRoute({
    getParentRoute: () => fullWindowRoute,
    path: '/drive-demo',
    component: lazyRouteComponent(() => import('./drive-demo.page.tsx'), 'DriveDemoPage'),
  }),
] as const

const role = 'operator'

export const operatorNavigation: readonly NavigationEntry[] = [
  {
    to: '/available',
    label: t('operator.navigation.available.label'),
    description: t('operator.navigation.available.description'),
    icon: IconRobotFace,
    role,
  },
  {
    to: '/certifications',
    label: t('operator.navigation.certifications.label'),
    description: t('operator.navigation.certifications.description'),
    icon: IconCertificate,
    role,
  },
  {
    to: '/schedule',
    label: t('operator.navigation.schedule.label'),
    description: t('operator.navigation.schedule.description'),
    icon: IconCalendarWeek,
    role,
  },
  {
    to: '/earnings',
    label: t('operator.navigation.earnings.label'),
    description: t('operator.navigation.earnings.description'),
    icon: IconCoins,
    role,
  },
]
