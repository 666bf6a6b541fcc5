import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { IconCalendarWeek, IconCertificate, IconCoins, IconRobotFace } from '../base/icons.tsx'
import type { NavigationEntry } from '../platform/platform.ts'
import { fullWindowRoute, shellPage, shellRoute } from '../platform/root-routes.tsx'
import { t } from '../texts/texts.ts'
import { readAvailableSearch } from './queries.ts'

export const operatorRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/available',
    validateSearch: readAvailableSearch,
    component: lazyRouteComponent(() => import('./available.page.tsx'), 'AvailablePage'),
  }),
  shellPage(
    '/available/$robotId',
    lazyRouteComponent(() => import('./pre-flight.page.tsx'), 'PreFlightPage'),
  ),
  shellPage(
    '/certifications',
    lazyRouteComponent(() => import('./certifications.page.tsx'), 'CertificationsPage'),
  ),
  shellPage(
    '/schedule',
    lazyRouteComponent(() => import('./schedule.page.tsx'), 'SchedulePage'),
  ),
  shellPage(
    '/earnings',
    lazyRouteComponent(() => import('./earnings.page.tsx'), 'EarningsPage'),
  ),
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
